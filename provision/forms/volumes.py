"""Folders and files of the machine that a person gives a container: `HOST[:INSIDE][:ro]`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from provision.errors import PaddockError
from provision.paths import at_home
from provision.words import text

# What is installed in the container is written there: were one of these, or what it lies in, the
# machine's, the machine would be changed. What lies below them may be given.
_SYSTEM = ("/bin", "/etc", "/lib", "/lib64", "/run", "/sbin", "/usr/bin", "/usr/lib", "/usr/sbin",
           "/usr/local/bin", "/usr/local/lib", "/var/lib")  # fmt: skip
_KERNEL = ("/dev", "/proc", "/sys")


@dataclass(frozen=True)
class Volume:
    """What is `source` on the machine and `target` in the container, both absolute paths."""

    source: str
    target: str
    read_only: bool = False

    def __str__(self) -> str:
        """As the flag takes it."""
        return f"{self.source}:{self.target}{':ro' if self.read_only else ''}"


def volumes(value: str, own: Sequence[str], *, here: bool) -> tuple[Volume, ...]:
    """The volumes in the value of `--volume`, separated by commas; none for "".

    `own` are the places in the container that are taken. With `here` HOST has to be on this
    machine, and may be relative; else it is not looked at. Raises PaddockError `bad-option`.
    """
    found: dict[str, Volume] = {}
    for one in value.split(",") if value else ():
        made = _volume(one, here=here)
        if place := _taken(Path(made.target), own):
            raise _refused(one, text("wanted.volume-place", place=place, target=made.target))
        if made.target in found:
            raise _refused(one, text("wanted.volume-once", target=made.target))
        found[made.target] = made
    return tuple(found.values())


def _volume(value: str, *, here: bool) -> Volume:
    """One volume, its paths made plain. Raises PaddockError `bad-option`."""
    host, *rest = value.split(":")
    mode = rest.pop() if rest and rest[-1] in ("ro", "rw") else ""
    source = Path(at_home(host))
    if host and here:
        source = Path(os.path.realpath(source)) if ".." in source.parts else source.absolute()
    target = Path(rest[0]) if rest else source
    if len(rest) > 1 or not (_is_plain(source) and _is_plain(target)):
        raise _refused(value, text("wanted.volume"))
    if here and not (os.path.isdir(source) or os.path.isfile(source)):  # noqa: PTH112, PTH113
        raise _refused(value, text("wanted.volume-here", source=source))
    return Volume(_one_slash(source), _one_slash(target), mode == "ro")


def _is_plain(path: Path) -> bool:
    """Whether the flag, a comment, and every engine can hold the path."""
    signs = str(path)
    return path.is_absolute() and ".." not in path.parts and signs.isprintable() and not (
        set(signs) & {":", ","}
    )  # fmt: skip


def _one_slash(path: Path) -> str:
    """The path with one slash where it begins: two may mean something else, and are kept."""
    return f"/{str(path).lstrip('/')}"


def _taken(target: Path, own: Sequence[str]) -> str:
    """The place that this one would hide, or that it lies in; "" where it is free."""
    inside = (one for one in (*own, *_KERNEL) if target.is_relative_to(one))
    hidden = (one for one in (*own, *_KERNEL, *_SYSTEM) if Path(one).is_relative_to(target))
    return next(inside, "") or next(hidden, "")


def _refused(value: str, wanted: str) -> PaddockError:
    shown = value if value.isprintable() else ascii(value)
    return PaddockError("bad-option", option="--volume", value=shown, wanted=wanted)
