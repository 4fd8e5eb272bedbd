"""A recipe as types, read from `images/recipes/BACKEND.toml`: how a wheel is built."""

from __future__ import annotations

import os
from typing import Annotated, Literal

import msgspec

from provision.document import Table, read
from provision.errors import unknown_name
from provision.paths import IMAGES
from provision.stack import Name, Specifier
from provision.wheels.rows import (
    Condition,
    Headers,
    Module,
    Pair,
    Piece,
    Program,
    Root,
    Tag,
    Value,
)

FOLDER = IMAGES / "recipes"
TOOLS = FOLDER / "tools.txt"
"""What every build is done with, by hash."""

_Count = Annotated[int, msgspec.Meta(ge=1)]


class Recipe(Table, frozen=True, kw_only=True):
    """How the wheel `distribution` is built from `folder` of a repository.

    `build` is by CMake, or by setup.py where nothing is compiled; `device` is Paddle's name of what
    the plugin brings, `library` the file that CMake makes of it, "" for a package without one.
    `settings` are variables of CMake, `variables` those of the environment. `modules` are
    submodules of git, `pieces` and `headers` what the vendor hands out, `roots` where. `commits`
    are known refs, so that no server is asked for them; `pairs` are for notes, matrix and image.
    `memory` is what one compiler takes and `disk` what the build tree takes, both in MiB. `paddle`
    is the release to build for where none is asked for; "" where none is needed. `libraries` are
    folders from which the vendor's libraries are loaded, `origin` those beside the built library.
    `reads` are names for what the sources themselves say, for the values of settings and variables.
    `place` is where it is built unless somebody chooses; `target` whose image it is built in. What
    was `tried` in the lab alone has never met the vendor's own SDK.
    """

    schema: Literal[1]
    backend: Name
    build: Literal["cmake", "setup"]
    device: Name
    distribution: Name
    repository: str
    ref: str
    folder: str
    python: Specifier
    machines: list[str]
    memory: _Count
    disk: _Count
    tried: Literal["lab", "machine", "hardware"]
    source: str
    seen: str
    paddle: str = ""
    library: str = ""
    target: str = ""
    place: Literal["venv", "container"] = "venv"
    libraries: list[str] = msgspec.field(default_factory=list)
    origin: list[str] = msgspec.field(default_factory=list)
    roots: dict[Name, Root] = msgspec.field(default_factory=dict)
    reads: dict[Name, Tag] = msgspec.field(default_factory=dict)
    commits: dict[str, str] = msgspec.field(default_factory=dict)
    settings: list[Value] = msgspec.field(default_factory=list)
    variables: list[Value] = msgspec.field(default_factory=list)
    modules: list[Module] = msgspec.field(default_factory=list)
    programs: list[Program] = msgspec.field(default_factory=list)
    pieces: list[Piece] = msgspec.field(default_factory=list)
    headers: list[Headers] = msgspec.field(default_factory=list)
    pairs: list[Pair] = msgspec.field(default_factory=list)

    @property
    def needs_hardware(self) -> bool:
        """Whether its device computes on the vendor's cards alone."""
        return bool(self.pieces)

    def handed_out(self) -> list[Piece]:
        """All that only the vendor has: the pieces, and each header as one."""
        return [*self.pieces, *(
            Piece(name=name, any=[f"{folder}/{name}" for folder in row.folders], vendor=row.vendor,
                  when=row.when, machine=row.machine, with_=row.with_, without=row.without)
            for row in self.headers for name in row.names
        )]  # fmt: skip

    def pair(self, ref: str) -> Pair | None:
        """What belongs to a ref, which may be the commit of one that is known."""
        same = (one for one in self.pairs if ref in (one.ref, self.commits.get(one.ref)))
        return next(same, None)

    def here(self) -> dict[str, str]:
        """What rows may name on this machine, before there are sources."""
        return {**self.vendor_folders(), "machine": os.uname().machine}

    def vendor_folders(self) -> dict[str, str]:
        """The vendor's folders by name, as the variables in force have them."""
        return {
            name: os.environ.get(root.variable) or root.default for name, root in self.roots.items()
        }


def names() -> list[str]:
    """The backends that have a recipe."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(backend: str) -> Recipe:
    """The recipe of a backend. Raises PaddockError `unknown-backend`, `stack-*`."""
    if backend not in names():
        raise unknown_name("unknown-backend", backend, names())
    parts = (Value, Module, Tag, Program, Piece, Headers, Pair, Root, Condition)
    return read(FOLDER / f"{backend}.toml", Recipe, *parts)


def of_target(target: str) -> str | None:
    """The backend whose recipe builds the plugin of a target; None where there is none."""
    found = ((name, load(name)) for name in names())
    return next((name for name, one in found if one.target == target and one.library), None)
