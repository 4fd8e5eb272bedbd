"""A recipe as types, read from `images/recipes/BACKEND.toml`: how a wheel is built."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from provision.document import Table, read
from provision.errors import unknown_name
from provision.paths import IMAGES
from provision.stack import Name, Specifier

FOLDER = IMAGES / "recipes"
TOOLS = FOLDER / "tools.txt"
"""What every build is done with, by hash."""

_Count = Annotated[int, msgspec.Meta(ge=1)]


class Condition(Table, frozen=True):
    """Holds where a file of the backend's folder `has` a text, or is there and `lacks` it."""

    file: str
    has: str = ""
    lacks: str = ""

    def holds(self, folder: Path) -> bool:
        """Whether it holds for these sources. A file that cannot be read has no text."""
        try:
            content = (folder / self.file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return False
        return self.has in content and not (self.lacks and self.lacks in content)


class Row(Table, frozen=True):
    """A row that may hold for some sources, one processor, or with or without a file only."""

    when: Condition | None = None
    machine: str = ""
    with_: str = msgspec.field(default="", name="with")
    without: str = ""

    def applies(self, folder: Path, known: Mapping[str, str]) -> bool:
        """Whether the row counts for these sources on this machine."""
        return (self.when is None or self.when.holds(folder)) and self.applies_here(known)

    def applies_here(self, known: Mapping[str, str]) -> bool:
        """Whether the row counts on this machine, for the sources that it is meant for."""
        return (
            self.machine in ("", known["machine"])
            and not (self.with_ and not Path(self.with_.format_map(known)).exists())
            and not (self.without and Path(self.without.format_map(known)).exists())
        )


class Value(Row, frozen=True, kw_only=True):
    """A variable of CMake or of the environment. In the value `{names}` are filled in."""

    name: str
    value: str


class Tag(Table, frozen=True):
    """A name or number that sources give in one of their files: group 1 of `pattern` there."""

    file: str
    pattern: str

    def name(self, root: Path) -> str:
        """What these sources give; "" where they do not."""
        try:
            content = (root / self.file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        found = re.search(self.pattern, content, re.MULTILINE)
        return found[1] if found else ""


class Module(Row, frozen=True, kw_only=True):
    """Sources that come as a submodule of git: a file of it, `sign`, shows that it is there.

    `tag` is what the sources check it out by: one that is fetched at its commit alone has no tags.
    """

    path: str
    sign: str = ""
    tag: Tag | None = None

    def there(self, root: Path) -> bool:
        """Whether it is checked out below this folder."""
        place = root / self.path
        if self.sign:
            return (place / self.sign).exists()
        return place.is_dir() and any(place.iterdir())


class Program(Row, frozen=True, kw_only=True):
    """A program that the sources call; where it is missing they fail, some after minutes."""

    name: str


class Piece(Row, frozen=True, kw_only=True):
    """What the vendor has to have installed: one of the paths `any`.

    `says` is a pattern that the file has to match; with `loads` it is a library that the loader
    has to take when the wheel is packed. `into` is where in the backend's folder the build wants
    it: it is copied there.
    """

    name: str
    any: list[str]
    vendor: str
    says: str = ""
    loads: bool = False
    into: str = ""

    def found(self, known: Mapping[str, str]) -> Path | None:
        """The first of its places where it is."""
        places = (Path(place.format_map(known)) for place in self.any)
        return next((place for place in places if place.exists()), None)


class Headers(Row, frozen=True, kw_only=True):
    """Headers of the vendor's that the sources include, and the folders in which they look."""

    names: list[str]
    folders: list[str]
    vendor: str


class Pair(Table, frozen=True):
    """The releases of Paddle that belong to a ref of the sources, and where that is known from.

    `image` is the one in which it is built, with `{machine}`; "" for that of the release.
    """

    ref: str
    paddle: list[str]
    source: str
    seen: str
    image: str = ""


class Root(Table, frozen=True):
    """A folder of the vendor's: what a variable names, else its usual place."""

    variable: str
    default: str


class Recipe(Table, frozen=True, kw_only=True):
    """How the wheel `distribution` is built from `folder` of a repository.

    `build` is by CMake, or by setup.py where nothing is compiled; `device` is Paddle's name of what
    the plugin brings, `library` the file that CMake makes of it, "" for a package without one.
    `settings` are variables of CMake, `variables` those of the environment. `modules` are
    submodules of git, `pieces` and `headers` what the vendor hands out, `roots` where. `commits`
    are known refs, so that no server is asked for them; `pairs` are for notes and the matrix.
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


def filled(rows: list[Value], folder: Path, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Name and value of each row that applies."""
    for row in rows:
        if row.applies(folder, known):
            yield row.name, row.value.format_map(known)
