"""A vendor's packages as data: rows `[packages.NAME]` of a target's stack file."""

from __future__ import annotations

import functools
import re
from typing import Annotated

import msgspec

from provision.document import Table, read
from provision.paths import IMAGES

# In a name `{pin}` stands for a version that the release pins, `{arch}`, `{machine}`, `{deb}`
# and `{python}` for what the machine is, and `*` for anything.
FileName = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._{}*+-]*\Z")]
Argument = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9._{}/=-]+\Z")]
Place = Annotated[str, msgspec.Meta(pattern=r"\A(/[A-Za-z0-9._{}-]+)+\Z")]
Sha256 = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Word = Annotated[str, msgspec.Meta(pattern=r"\A([A-Za-z0-9][A-Za-z0-9._-]*)?\Z")]

Seconds = Annotated[int, msgspec.Meta(ge=1)]

_PIN = re.compile(r"{([a-z0-9_-]+)}")


class Patience(Table, frozen=True):
    """`images/patience.toml`: what holds for all installers, and where that is known from."""

    quiet: Seconds
    limit: Seconds
    source: str
    seen: str


@functools.cache
def patience() -> Patience:
    """How long vendors' installers are waited for."""
    return read(IMAGES / "patience.toml", Patience)


class Package(Table, frozen=True):
    """One package, who hands it out, and what shows that it is installed.

    `files` are its names, those whose pins the release has (and that of `only_with`), the usual one
    first; `archives` are what it may be packed in. One of `shows` (a file with a line
    `key`=VERSION or `key` : VERSION), `module` (a kernel module's version) and `distribution` (of
    Python) tells the version that `pin` wants. `remove` is what removes it: a script, by its path,
    and its arguments, or the flags with which the package itself does. `reboot` is a pattern of
    what the installer prints where the machine has to start anew; with `headers` it builds its
    modules for a kernel for which it brings none, from the headers of that; `sourced` is a script
    that has to be sourced before it runs. `quiet` is for how many seconds it may print nothing
    before that is told, `limit` after how many it counts as hung and is ended. `writes` are the
    places of the system to which it writes, that of its bulk first. `sha256` has the digests that
    are published, by file name.
    """

    files: list[FileName]
    vendor: str
    where: str
    source: str
    seen: str
    archives: list[FileName] = msgspec.field(default_factory=list)
    only_with: Word = ""
    pin: Word = ""
    shows: Place | None = None
    key: Word = "Version"
    module: Word = ""
    distribution: Word = ""
    install: list[Argument] = msgspec.field(default_factory=list)
    upgrade: list[Argument] = msgspec.field(default_factory=list)
    remove: list[Argument] = msgspec.field(default_factory=list)
    reboot: str = ""
    headers: bool = False
    sourced: Place | None = None
    writes: list[Place] = msgspec.field(default_factory=lambda: ["/usr"])
    quiet: Seconds = msgspec.field(default_factory=lambda: patience().quiet)
    limit: Seconds = msgspec.field(default_factory=lambda: patience().limit)
    sha256: dict[FileName, Sha256] = msgspec.field(default_factory=dict)

    def names(self, known: dict[str, str]) -> list[str]:
        """Those of `files` whose pins are all known; none where the release needs no such file."""
        if self.only_with and self.only_with not in known:
            return []
        return [name for name in self.files if matches(name, known)]


def filled(text: str, known: dict[str, str]) -> str:
    """A text with its `{pins}` replaced. Raises KeyError for one that is not known."""
    return _PIN.sub(lambda match: known[match[1]].split("|")[0], text)


def pattern(name: str, known: dict[str, str], free: tuple[str, ...] = ()) -> re.Pattern[str]:
    """What matches a file of that name; the pins in `free` may have any version."""

    def one(part: str) -> str:
        if part == "*":
            return r"[A-Za-z0-9][A-Za-z0-9.+~-]*"
        if not (match := _PIN.fullmatch(part)):
            return re.escape(part)
        if match[1] in free:
            return r"[0-9][A-Za-z0-9.+-]*"
        return "(?:" + "|".join(map(re.escape, known[match[1]].split("|"))) + ")"

    return re.compile("".join(map(one, re.split(r"({[a-z0-9_-]+}|\*)", name))))


def matches(name: str, known: dict[str, str]) -> re.Pattern[str] | None:
    """What matches a file of that name; None where one of its pins is not known."""
    return pattern(name, known) if set(_PIN.findall(name)) <= known.keys() else None
