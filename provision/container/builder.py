"""The container in which `build-ops` runs: its mounts and variables, and its end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provision.container.box import remove
from provision.container.engine import translated
from provision.container.packing import leads_out
from provision.container.settings import certificates, on_this_machine
from provision.network import Network
from provision.paths import ROOT, state_dir
from provision.stack import Stack
from provision.wheels import git, recipe
from provision.wheels.order import Order
from provision.wheels.source import Source
from provision.words import language

BUILD = "paddock.build"
"""The label of such a container: whose it is. Its end is that of the run that made it."""


def clear(client: Any) -> bool:
    """Remove what killed runs of this home have left, for the one run that builds now.

    Returns whether there was anything.
    """
    wanted = {"label": [f"{BUILD}={state_dir()}"]}
    with translated():
        left = client.containers.list(all=True, filters=wanted, ignore_removed=True)
    remove(left)
    return bool(left)


@dataclass(frozen=True)
class Job:
    """What is built in a container, and the home that it has there, as here.

    `stack` is that of the backend's target, None for none.
    """

    order: Order
    sources: Source
    home: Path
    stack: Stack | None

    def container(self, client: Any, image: str) -> Any:
        """A new one that waits; root in there writes to the home and the downloads alone."""
        from docker.types import Mount

        written = {self.home, *_downloads()}
        mounts = [Mount(str(place), str(place), type="bind", read_only=place not in written)
                  for place in dict.fromkeys([*self.places(), *written])]  # fmt: skip
        shared = "host" if on_this_machine(self.order.network) else "bridge"
        with translated(image=image):
            return client.containers.create(
                image, entrypoint=["sleep", "infinity"], init=True, user="0:0", mounts=mounts,
                network_mode=shared, environment=self._variables(),
                labels={BUILD: str(state_dir())},
            )  # fmt: skip

    def _variables(self) -> dict[str, str]:
        """The environment in the container, without what may hold a password."""
        bundle = certificates(self.order.network)
        trusted = Network(ca_bundle=bundle).environment() if bundle else {}
        own = {name: value for name, value in trusted.items() if value == str(bundle)}
        found = {"PADDOCK_HOME": str(self.home), "HOME": str(self.home), "LANG": "C.UTF-8",
                 "PADDOCK_LANG": language(), **own}  # fmt: skip
        return found | ({"UV_CACHE_DIR": str(_downloads()[0])} if _downloads() else {})

    def places(self) -> Iterator[Path]:
        """The tool, the sources, what the network takes, and what is wanted of the driver."""
        yield ROOT
        yield from self._settings()
        if bundle := certificates(self.order.network):
            yield bundle
        container = self.stack.container if self.stack else None
        mounts = map(Path, container.mounts if container else ())
        yield from (path for path in mounts if path.exists())
        yield from self._sources()

    def _settings(self) -> list[Path]:
        """Writes git's configuration for the container; returns what it includes of the person's.

        There are the mirrors and proxies by which this machine reaches the sources. These are the
        person's, and git there runs as root; that they are safe a file tells every release of git.
        """
        own = Path("~/.config/git/config").expanduser(), Path("~/.gitconfig").expanduser()
        found = [file.resolve() for file in own if file.is_file()]
        quoted = (str(file).replace("\\", "\\\\").replace('"', '\\"') for file in found)
        includes = "".join(f'[include]\n\tpath = "{file}"\n' for file in quoted)
        safe = f"{includes}[safe]\n\tdirectory = *\n"
        (self.home / ".gitconfig").write_text(safe, encoding="utf-8")
        return found

    def _sources(self) -> Iterator[Path]:
        """What was given as sources, with what of them is elsewhere on this machine."""
        top = Path(given(self.order))
        if not self.order.source or not top.exists():
            return
        yield top
        if self.sources.kind == "folder":
            links = (path for path in top.rglob("*") if path.is_symlink())
            yield from (link.resolve() for link in links if leads_out(link, top))
        elif top.is_dir():
            paths = (top / one.path for one in recipe.load(self.order.backend).modules)
            for place in (top, *(path for path in paths if (path / ".git").exists())):
                yield from (path for path in _histories(place) if not path.is_relative_to(top))


def given(order: Order) -> str:
    """The flag `--source` as the container gets it."""
    path = Path(order.source)
    return str(path.resolve()) if order.source and path.exists() else order.source


def _downloads() -> list[Path]:
    """Where the person keeps the downloads of uv: root in there writes to it, so root here only."""
    named = os.environ.get("UV_CACHE_DIR")
    if not named or os.getuid():
        return []
    place = Path(named).absolute()
    place.mkdir(parents=True, exist_ok=True)
    return [place]


def _histories(clone: Path) -> Iterator[Path]:
    """Where a clone keeps its history: another worktree's, or objects that it shares."""
    common = git.git(clone, "rev-parse", "--git-common-dir").out.rstrip("\n")
    place = Path(clone, common).resolve()
    yield place
    yield from _shared(place / "objects")


def _shared(objects: Path) -> Iterator[Path]:
    """The folders of objects that one refers to, and those that these do."""
    listed = objects / "info" / "alternates"
    for row in listed.read_text(errors="surrogateescape").splitlines() if listed.is_file() else ():
        other = Path(objects, row).resolve()
        if other.is_dir():
            yield other
            yield from _shared(other)
