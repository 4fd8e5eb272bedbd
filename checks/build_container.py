"""`build-ops --in container`: this same tool within an image that has what the recipe needs."""

from __future__ import annotations

import json
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checks.build_recipe import ALL, Say
from provision import events, guard
from provision.container import box, engine, images
from provision.container.builder import Job, clear, given
from provision.container.inside import Inside
from provision.container.settings import private
from provision.errors import STATUS, PaddockError, Told
from provision.facts.pythons import bounds
from provision.paths import ROOT, cache_dir, data_dir
from provision.process import TAIL
from provision.progress import Progress
from provision.stack import Stack, stack_file
from provision.stack import load as load_stack
from provision.symptoms import classify
from provision.wheels import modules, recipe, source
from provision.wheels.order import Order
from provision.wheels.source import Source
from provision.words import text

_PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64"}  # as images name them


def build(order: Order, say: Say, progress: Callable[[], Progress]) -> dict[str, Any]:
    """Build in a container of an image, which is removed again; what `--json` tells of the wheel.

    The image has git, a Python from 3.10 on, a compiler, and the vendor's SDK; the host's driver
    is shown to it. Raises PaddockError: what the engine says, and what the tool says in there.
    """
    sources = _checked(order)
    try:
        client, wanted = _begin(order, order.image or usual(order, sources.commit), say)
        with progress() as shown:
            name = images.obtain(client, wanted, shown)[0]
        _refuse_other(client, name, wanted.name)
    except PaddockError as error:
        raise _or_here(error) from None
    home = cache_dir() / "containers" / name.removeprefix("sha256:")[:12]
    home.mkdir(parents=True, exist_ok=True)
    with guard.exclusive(ALL):
        if clear(client):
            say(text("inside.cleared"))
        with progress() as shown:
            told = Listener(say, shown)
            status = _run(client, name, Job(order, sources, home, _stack(order)), told)
        if status or told.document is None:
            raise _failed(told, status, home, wanted.name)
        return _taken(told.document["wheels"][0])


def _checked(order: Order) -> Source:
    """The sources that are meant, and that they and the Python can be, before an image is pulled.

    Raises PaddockError `bad-option`, `source-*`, `no-network`.
    """
    known, asked = recipe.load(order.backend), order.python
    if asked and "/" not in asked and not bounds(known.python)((3, int(asked.partition(".")[2]))):
        wanted = f"python {known.python}"
        raise PaddockError("bad-option", option="--python", value=asked, wanted=wanted)
    found = source.find(known, order.source, order.ref, order.network)
    modules.refuse_changed(found, known, known.here())
    return found


def _begin(order: Order, image: str, say: Say) -> tuple[Any, images.Reference]:
    """The engine, and the image, which may have to be pulled."""
    wanted = images.reference(image)
    client = engine.connect()
    say(text("place.image", image=wanted.exact))
    if order.network.offline and not images.find(client, wanted):
        raise PaddockError("image-offline", image=wanted.exact)
    return client, wanted


def _refuse_other(client: Any, image: str, name: str) -> None:
    """Raises PaddockError `image-unfit` for an image of another processor: a wheel is built on the
    one that it is for.
    """
    with engine.translated(image=name):
        found = client.images.get(image).attrs.get("Architecture")
    machine = os.uname().machine
    if not is_for(found, machine):
        reason = text("place.processor", processor=found)
        raise PaddockError("image-unfit", image=name, reason=reason, machine=machine)


def is_for(processor: str | None, machine: str) -> bool:
    """Whether an image of this processor is for this machine; of one that names none it may be."""
    return not processor or processor == _PROCESSORS.get(machine, processor)


def _or_here(error: PaddockError) -> PaddockError:
    """The same error, with the way to do without a container."""
    return PaddockError(error.code, (*error.details, text("place.or-venv")), **error.values)


def _stack(order: Order) -> Stack | None:
    """The stack of the backend's target."""
    target = recipe.load(order.backend).target
    return load_stack(stack_file(target)) if target else None


def usual(order: Order, commit: str = "") -> str:
    """The image that the sources name, else that of the release of the backend's target.

    `commit` is that of the sources, "" for none. Raises PaddockError `flag-needs` where no image is
    known.
    """
    stack, known = _stack(order), recipe.load(order.backend)
    pair = known.pair(commit or order.ref or known.ref)
    if pair and pair.image and order.paddle in ("", *pair.paddle):
        return pair.image.format(machine=os.uname().machine)
    image = stack.image if stack else None
    usual = [stack.default_release] if stack else []
    named = [image.base(one, os.uname().machine)
             for one in (order.paddle, *(pair.paddle if pair else ()), *usual)
             if image and one in image.bases]  # fmt: skip
    if not any(named):
        raise PaddockError("flag-needs", one="--in container", other="--image NAME")
    return next(filter(None, named))


@dataclass
class Listener:
    """Takes what the tool in the container writes, and tells it on line by line.

    What follows its document says the same again, in sentences.
    """

    say: Say
    progress: Progress
    out: bytearray = field(default_factory=bytearray)
    rest: bytearray = field(default_factory=bytearray)
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL))

    def __call__(self, out: bytes | None, err: bytes | None) -> None:
        """Take a piece of each stream."""
        self.out.extend(out or b"")
        self.rest.extend(err or b"")
        *lines, self.rest[:] = self.rest.split(b"\n")
        for line in lines:
            self.line(line.decode("utf-8", "replace").rstrip())

    def line(self, line: str) -> None:
        """Take one line."""
        if event := events.read(line):
            events.repeat(event, self.progress)
            return
        self.tail.append(line)
        if not self.out:
            self.say(line)

    @property
    def document(self) -> dict[str, Any] | None:
        """The one JSON document on standard output."""
        try:
            found = json.loads(self.out.decode("utf-8", "replace"))
        except ValueError:
            return None
        return found if isinstance(found, dict) else None


def _run(client: Any, image: str, job: Job, told: Listener) -> int:
    """Run the tool in a new container; its exit status."""
    words = [str(ROOT / "paddock"), "build-ops", "--json", *_flags(job.order)]
    container = job.container(client, image)
    try:
        box.start(container)
        inside = Inside(client, container, job.home, job.stack.settings if job.stack else ())
        variables = private(job.order.network) | {events.VARIABLE: "1"}
        status = inside.run(words, variables, told, f"build-{os.getpid()}")
        # Root in there is this user here where the engine runs without root's rights.
        owned = ["chown", "-R", f"--reference={job.home}", str(job.home)]
        inside.run(owned, {}, lambda *_: None, "owner")
    finally:
        box.remove([container])
    return status


def _flags(order: Order) -> Iterator[str]:
    """The order once more, as the command line in the container has it."""
    flags = {"backend": order.backend, "source": given(order), "ref": order.ref,
             "python": order.python, "paddle": order.paddle, "in": "venv",
             "jobs": str(order.jobs or "")}  # fmt: skip
    for name, value in flags.items():
        yield from (f"--{name}", value) if value else ()
    yield from ["--offline"] * order.network.offline


def _failed(told: Listener, status: int, home: Path, image: str) -> PaddockError:
    """The error of the tool in the container, else that it did not come so far."""
    document, where = told.document, text("place.inside", image=image)
    if document and document.get("code") in STATUS:
        return Told(document, where)
    tail = tuple(told.tail)
    code = classify(tail)
    reason = text("place.no-start", status=status)
    return PaddockError(
        "image-unfit" if code == "step-failed" else code, (*tail[-5:], where), step="container",
        status=status, log="-", path=home, remedy="g++", image=image, reason=reason,
        machine=os.uname().machine,
    )  # fmt: skip


def _taken(wheel: dict[str, Any]) -> dict[str, Any]:
    """The wheel with its record, copied to where a build outside of a container leaves it."""
    found = Path(wheel["path"])
    place = data_dir() / "wheels" / wheel["backend"] / found.parent.name
    draft = place.with_name(f"{place.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(found.parent, draft)
    shutil.rmtree(place, ignore_errors=True)
    draft.rename(place)
    papers = [str(place / Path(paper).name) for paper in wheel["papers"]]
    return {**wheel, "path": str(place / found.name), "papers": papers, "place": "container"}
