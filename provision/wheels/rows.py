"""What the tables of a recipe have in their rows, and for which sources and machines they count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from provision.document import Table


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


def filled(rows: list[Value], folder: Path, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Name and value of each row that applies."""
    for row in rows:
        if row.applies(folder, known):
            yield row.name, row.value.format_map(known)
