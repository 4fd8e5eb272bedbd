"""`build-ops --in container`: this same tool within an image that has what the recipe needs."""

from __future__ import annotations

import json
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from checks.build_recipe import Say
from provision.container import box, engine, images
from provision.container.inside import Inside
from provision.container.settings import certificates, on_this_machine, private
from provision.errors import STATUS, PaddockError, Told
from provision.network import Network
from provision.paths import ROOT, cache_dir, data_dir
from provision.process import TAIL
from provision.progress import Progress
from provision.stack import Stack, stack_file
from provision.stack import load as load_stack
from provision.symptoms import classify
from provision.wheels import recipe
from provision.wheels.order import Order
from provision.words import text


def build(order: Order, image: str, say: Say, progress: Callable[[], Progress]) -> dict[str, Any]:
    """Build in a container of an image, which is removed again; what `--json` tells of the wheel.

    The image has git, a Python from 3.10 on, a compiler, and the vendor's SDK; the host's driver
    is shown to it. Raises PaddockError: what the engine says, and what the tool says in there.
    """
    order.checked()
    try:
        client, name = _begin(order, image, say, progress)
    except PaddockError as error:
        raise _or_here(error) from None
    home = cache_dir() / "containers" / name.removeprefix("sha256:")[:12]
    home.mkdir(parents=True, exist_ok=True)
    # The sources are the person's, and git there runs as root; as a file every release takes it.
    (home / ".gitconfig").write_text("[safe]\n\tdirectory = *\n", encoding="utf-8")
    status, out, tail = _run(client, name, order, home, say)
    document = _document(out)
    if status or document is None:
        raise _failed(document, status, tail, home)
    return _taken(document["wheels"][0])


def _begin(order: Order, image: str, say: Say, progress: Callable[[], Progress]) -> tuple[Any, str]:
    """The engine, and the ID of the image, which is pulled where it is not here."""
    wanted = images.reference(image or usual(order))
    client = engine.connect()
    say(text("place.image", image=wanted.exact))
    if order.network.offline and not images.find(client, wanted):
        raise PaddockError("image-offline", image=wanted.exact)
    with progress() as shown:
        return client, images.obtain(client, wanted, shown)[0]


def _or_here(error: PaddockError) -> PaddockError:
    """The same error, with the way to do without a container."""
    return PaddockError(error.code, (*error.details, text("place.or-venv")), **error.values)


def _stack(order: Order) -> Stack | None:
    """The stack of the backend's target."""
    target = recipe.load(order.backend).target
    return load_stack(stack_file(target)) if target else None


def usual(order: Order) -> str:
    """The image of the backend's target, of the release that belongs to the sources where there is
    one. Raises PaddockError `flag-needs` where none is known.
    """
    stack, known = _stack(order), recipe.load(order.backend)
    ref = order.ref or known.ref
    releases = [order.paddle, *(one for pair in known.pairs if pair.ref == ref
                                for one in pair.paddle)]  # fmt: skip
    image = stack.image if stack else None
    usual = [stack.default_release] if stack else []
    named = [image.base(one, os.uname().machine) for one in (*releases, *usual)
             if image and one in image.bases]  # fmt: skip
    if not any(named):
        raise PaddockError("flag-needs", one="--in container", other="--image NAME")
    return next(filter(None, named))


def _run(
    client: Any, image: str, order: Order, home: Path, say: Say
) -> tuple[int, str, tuple[str, ...]]:
    """Run the tool in a new container; its exit status, its output, and the last lines beside."""
    out, rest = bytearray(), bytearray()
    tail: deque[str] = deque(maxlen=TAIL)
    words = [str(ROOT / "paddock"), "build-ops", "--json", *_flags(order)]

    def listen(printed: bytes | None, told: bytes | None) -> None:
        out.extend(printed or b"")
        rest.extend(told or b"")
        *lines, rest[:] = rest.split(b"\n")
        for line in lines:
            tail.append(line.decode("utf-8", "replace").rstrip())
            say(tail[-1])

    stack = _stack(order)
    container = _container(client, image, order, home, stack)
    try:
        box.start(container)
        inside = Inside(client, container, home, stack.settings if stack else ())
        status = inside.run(words, private(order.network), listen, f"build-{os.getpid()}")
        owner = f"{os.getuid()}:{os.getgid()}"
        inside.run(["chown", "-R", owner, str(home)], {}, lambda *_: None, "owner")
    finally:
        box.remove([container])
    return status, out.decode("utf-8", "replace"), tuple(tail)


def _container(client: Any, image: str, order: Order, home: Path, stack: Stack | None) -> Any:
    """A new container that waits; root in there writes to the home and the downloads alone."""
    from docker.types import Mount

    written = {home, *_downloads()}
    mounts = [Mount(str(place), str(place), type="bind", read_only=place not in written)
              for place in [*_mounts(order, home, stack), *_downloads()]]  # fmt: skip
    shared = "host" if on_this_machine(order.network) else "bridge"
    with engine.translated(image=image):
        return client.containers.create(
            image, entrypoint=["sleep", "infinity"], init=True, user="0:0", mounts=mounts,
            network_mode=shared, environment=_variables(order, home),
        )  # fmt: skip


def _variables(order: Order, home: Path) -> dict[str, str]:
    """The environment in the container, without what may hold a password."""
    bundle = certificates(order.network)
    trusted = Network(ca_bundle=bundle).environment() if bundle else {}
    kept = {
        name: os.environ[name] for name in ("PADDOCK_LANG", "LANG", "LC_ALL") if name in os.environ
    }
    own = {name: value for name, value in trusted.items() if value == str(bundle)}
    found = {"PADDOCK_HOME": str(home), "HOME": str(home), **kept, **own}
    return found | ({"UV_CACHE_DIR": str(_downloads()[0])} if _downloads() else {})


def _downloads() -> list[Path]:
    """Where the person keeps the downloads of uv: root in there writes to it, so root here only."""
    named = os.environ.get("UV_CACHE_DIR")
    if not named or os.getuid():
        return []
    place = Path(named).absolute()
    place.mkdir(parents=True, exist_ok=True)
    return [place]


def _flags(order: Order) -> Iterator[str]:
    """The order once more, as the command line in the container has it."""
    given = {"backend": order.backend, "source": _source(order), "ref": order.ref,
             "python": order.python, "paddle": order.paddle, "in": "venv",
             "jobs": str(order.jobs or "")}  # fmt: skip
    for name, value in given.items():
        yield from (f"--{name}", value) if value else ()
    yield from ["--offline"] * order.network.offline


def _source(order: Order) -> str:
    path = Path(order.source)
    return str(path.resolve()) if order.source and path.exists() else order.source


def _mounts(order: Order, home: Path, stack: Stack | None) -> Iterator[Path]:
    """The tool, its home, the sources, certificates, and what is wanted of the host's driver."""
    yield from (ROOT, home)
    if order.source and Path(_source(order)).exists():
        yield Path(_source(order))
    if bundle := certificates(order.network):
        yield bundle
    container = stack.container if stack else None
    yield from (path for path in map(Path, container.mounts if container else ()) if path.exists())


def _document(out: str) -> dict[str, Any] | None:
    """The one JSON document on standard output."""
    try:
        found = json.loads(out)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _failed(
    document: dict[str, Any] | None, status: int, tail: tuple[str, ...], home: Path
) -> PaddockError:
    """The error of the tool in the container, else that it did not come so far."""
    if document and document.get("code") in STATUS:
        return Told(document)
    return PaddockError(classify(tail), tail[-5:], step="container", status=status, log="-",
                        path=home, remedy="g++")  # fmt: skip


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
