"""What would make a build fail late: all of it, told before the wheel of Paddle is fetched."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from provision.facts.command import run
from provision.wheels import tools
from provision.wheels.python import Facts
from provision.wheels.rows import Module
from provision.wheels.source_files import as_text, dangling, pointers
from provision.wheels.surroundings import overruling
from provision.wheels.tools import Check
from provision.wheels.work import Work
from provision.words import text

_LIMIT = 30.0  # seconds


def problems(work: Work, facts: Facts, missing: list[Module], said: str) -> list[str]:
    """What has to be done before this build can succeed, a line each.

    `said` is why the missing submodules could not be had, "" where nobody has tried.
    """
    found = list(_modules(work, missing, said))
    for check in CHECKS:
        found += check(work, facts)
    return found


def _modules(work: Work, missing: list[Module], said: str) -> Iterator[str]:
    if not missing:
        return
    names = ", ".join(one.path for one in missing)
    history = work.source.has_history
    yield text("unready.modules" if history else "unready.modules-archive", names=names,
               commands=" ".join(_first(missing)), reason=said or "-")  # fmt: skip


def _first(missing: list[Module]) -> list[str]:
    """The submodules of the top repository; theirs follow."""
    return [one.path for one in missing if not any(one.path.startswith(f"{up.path}/")
                                                   for up in missing)]  # fmt: skip


def _links(work: Work, _: Facts) -> Iterator[str]:
    if found := as_text(work.root, work.folder):
        yield text("unready.links", count=len(found), first=found[0])
    if found := pointers(work.root, work.folder):
        yield text("unready.pointers", count=len(found), first=found[0])
    if work.recipe.build == "cmake" and (found := dangling(work.root, work.folder, work.recipe)):
        yield text("unready.dangling", count=len(found), first=found[0])


def _history(work: Work, _: Facts) -> Iterator[str]:
    """Sources that ask git for submodules although they are there cannot do without git."""
    asks = work.folder / "cmake" / "paddle.cmake"
    needed = any(one.applies(work.folder, work.known) for one in work.recipe.modules)
    if needed and not work.source.has_history and "paddle_submodule" not in _content(asks):
        has_one = (work.root / ".git").exists()
        yield text("unready.history-inside" if has_one else "unready.history")


def _pieces(work: Work, _: Facts) -> Iterator[str]:
    """What the vendor's SDK lacks, or what of it does not load."""
    for piece in work.recipe.handed_out():
        if not piece.applies(work.folder, work.known):
            continue
        path = piece.found(work.known)
        if path is None:
            places = ", ".join(place.format_map(work.known) for place in piece.any)
            yield text("unready.piece", name=piece.name, vendor=piece.vendor, places=places)
        elif piece.says and not re.search(piece.says, _content(path)):
            yield text("unready.piece-says", path=path, pattern=piece.says)
        elif piece.loads and (reason := _unloadable(path, work)):
            yield text("unready.piece-loads", path=path, reason=reason)


def _programs(work: Work, _: Facts) -> Iterator[str]:
    """What the sources call and the environment does not bring."""
    for program in work.recipe.programs:
        if program.applies(work.folder, work.known) and not shutil.which(program.name):
            yield text("unready.program", name=program.name)


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _unloadable(path: Path, work: Work) -> str:
    """Why the loader does not take a library, as it will have to when the wheel is packed."""
    places = filter(None, [work.libraries(), os.environ.get("LD_LIBRARY_PATH")])
    env = {**os.environ, "LD_LIBRARY_PATH": ":".join(places)}
    load = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    answer = run([work.python.interpreter, "-I", "-c", load, path], _LIMIT, env)
    if answer.status == 0:
        return ""
    return answer.last.removeprefix("OSError: ") or f"{answer.status}"


CHECKS: Final[tuple[Check, ...]] = (_links, _history, _programs, _pieces, *tools.CHECKS)


def notes(work: Work) -> Iterator[str]:
    """What a person should know, though it keeps nothing from going on."""
    recipe, source = work.recipe, work.source
    pair = recipe.pair(source.ref) or recipe.pair(source.commit)
    if pair and work.python.paddle not in ("", *pair.paddle):
        yield text("note.pair", ref=pair.ref, paddle=", ".join(pair.paddle),
                   release=work.python.paddle, source=pair.source)  # fmt: skip
    if names := overruling():
        yield text("note.left-out", names=", ".join(names))
    if recipe.tried == "lab":
        yield text("note.tried-lab")
    script = work.folder / "tools" / "compile.sh"
    if "uname -i" in _content(script) and _hardware_platform() != work.machine:
        yield text("note.uname", script=script.relative_to(work.root), says=_hardware_platform())


def _hardware_platform() -> str:
    try:
        return run(["uname", "-i"], _LIMIT).out.strip()
    except OSError:
        return ""
