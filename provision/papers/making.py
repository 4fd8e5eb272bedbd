"""How the wheels of steps and of recipes are made, for their papers; and the papers put beside."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from provision.digest import sha256
from provision.files import write
from provision.papers import bill, bill_beside, materials, statement, statement_beside
from provision.papers.statement import Making
from provision.paths import TEMPLATES, cache_dir
from provision.render import render
from provision.stack import Layer, Step
from provision.steps.base import Context
from provision.steps.wheel import Wheel, paddle_version

if TYPE_CHECKING:
    from provision.wheels.work import Work

_LAYERS: tuple[Layer, ...] = ("framework", "build")


def put(wheel: Path, making: Callable[[], Making]) -> list[Path]:
    """The statement and the bill beside a wheel, made where they are not there or of another file.

    Raises PaddockError `disk-full`, `bad-option`; OSError.
    """
    papers, digest = [statement_beside(wheel), bill_beside(wheel)], sha256(wheel)
    with contextlib.suppress(msgspec.MsgspecError):
        if papers[1].is_file() and statement.is_about(statement.read(wheel), digest):
            return papers
    made = making()
    # The statement last: it is what shows that both are there.
    write("FILE", str(papers[1]), bill.bill(wheel, digest, made))
    write("FILE", str(papers[0]), statement.statement(wheel, digest, made))
    return papers


def of_step(step: Step, context: Context) -> Making:
    """How the wheel of a step is made."""
    kind, version = Wheel(), context.site.version
    places = {name: f"/{name}" for name in kind.values(step, context)}
    script = render(kind.template, places | {"paddle_version": paddle_version(context)})
    asked = {
        "target": context.stack.target, "release": context.release, "step": step.name,
        "paddle": paddle_version(context), "python": version, "machine": context.arch,
    }  # fmt: skip
    return Making(asked, _lines(script), materials.tools(), list(_of_step(step, context)))


def _of_step(step: Step, context: Context) -> Iterator[dict[str, object]]:
    """Each source file by its path below the target's folder, the locks, and Paddle's libraries."""
    for path in Wheel().inputs(step, context):
        name = path.relative_to(context.folder).as_posix()
        yield {"name": name, "digest": {"sha256": sha256(path)}}
    for layer in _LAYERS:
        lock = context.lock(layer)
        if lock.is_file():
            name = lock.relative_to(context.folder).as_posix()
            yield from materials.locked(lock, name, context.site.version)
    for packages in filter(None, [context.site.site_packages]):
        yield from materials.linked(packages / "paddle")


def of_recipe(work: Work, logs: Path) -> Making:
    """How the wheel of a recipe is made; `logs` is the folder in which the build left its scripts.

    Where that is gone, the commands are not known any more.
    """
    from provision.wheels.python import facts

    found = facts(work.python.executable)
    names = {f"{work.sources}/{work.recipe.folder}": "/source", str(work.sources): "/sources",
             str(work.folder): "/source", str(work.root): "/sources", str(work.build): "/build",
             str(work.python.env or ""): "/env", str(work.python.interpreter): "/python",
             found.include: "/include", found.folder: "/lib", str(cache_dir()): "/cache",
             str(TEMPLATES): "/templates",
             str(Path.home()): "/home"}  # fmt: skip
    scripts = [logs / f"{name}.sh" for name in ("configure", "compile")]
    text = "\n".join(path.read_text(errors="replace") for path in scripts if path.is_file())
    for place in sorted(filter(None, names), key=len, reverse=True):
        text = text.replace(place, names[place])
    asked = {"backend": work.recipe.backend, "ref": work.source.ref,
             "paddle": work.python.paddle or found.release, "python": work.python.version,
             "machine": work.machine}  # fmt: skip
    return Making(asked, _lines(text), materials.tools(), list(_of_recipe(work, found.paddle)))


def _of_recipe(work: Work, paddle: str) -> Iterator[dict[str, object]]:
    """The sources at their commit, the packages, Paddle's libraries, and the vendor's files.

    Sources without history are told by no digest that another machine could check.
    """
    from provision.network import hidden

    source = work.source
    if source.commit:
        remote = {"uri": f"git+{hidden(source.origin)}"} if source.kind == "remote" else {}
        yield {"name": "source", "digest": {"gitCommit": source.commit}, **remote}
    elif source.kind == "archive":
        yield {"name": Path(source.origin).name, "digest": {"sha256": source.identity}}
    else:
        yield {"name": "source", "uri": "urn:paddock:source-without-history"}
    yield from _packages(work, paddle)
    if paddle:
        yield from materials.linked(Path(paddle))
    yield from materials.vendors(work)


def _packages(work: Work, paddle: str) -> Iterator[dict[str, object]]:
    """The packages of an environment made for this: of its locks, and what came without one.

    Of the host's many those that a wheel is built with.
    """
    locked: set[str] = set()
    for lock in work.python.locks if work.python.env else ():
        rows = materials.locked(lock, f"{lock.parent.name}/{lock.name}", f"{work.python.version}.0")
        for row in rows:
            locked.add(str(row.get("uri", "")).removeprefix(statement.PACKAGE).partition("@")[0])
            yield row
    if paddle and work.python.env is None:
        yield from materials.packages(Path(paddle).parent, _is_of_a_build)
    elif paddle and work.python.loose:
        yield from materials.packages(Path(paddle).parent, lambda name: name not in locked)


def _is_of_a_build(name: str) -> bool:
    return name.startswith("paddlepaddle") or name in ("numpy", "setuptools", "wheel")


def _lines(script: str) -> list[str]:
    """The commands of a script, without comments."""
    return [line for line in re.split(r"\n+", script) if line and not line.startswith("#")]
