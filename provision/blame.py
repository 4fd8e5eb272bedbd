"""Which place it was that a failed step could not write to: one of ours, or one of the system."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from provision.amounts import size
from provision.errors import PaddockError
from provision.facts import disk
from provision.facts.disk import Room
from provision.paths import cache_dir, data_dir, state_dir
from provision.room import uv_cache
from provision.stack import Step
from provision.steps import KINDS
from provision.steps.base import Context
from provision.words import text

_FULL = 1 << 20  # bytes: with less than these free, a file system counts as full

_BAD: Final[dict[str, Callable[[Room], bool]]] = {
    "disk-full": lambda room: room.free < _FULL or room.inodes == 0,
    "read-only": lambda room: room.read_only or not room.writable,
}
_SYSTEM: Final = {"disk-full": "system-full", "read-only": "system-closed"}


def placed(error: PaddockError, step: Step, context: Context) -> PaddockError:
    """The error of a step that has failed, about the place that was full or could not be written.

    Another error stays as it is. An installer's words alone do not tell where: what is full now
    does. Where nothing is any more, the places to which the step writes are told with their room.
    """
    if error.code not in _BAD:
        return error
    rooms = _rooms(written(step, context))
    bad = [room for room in rooms if _BAD[error.code](room)]
    if not (KINDS[step.kind].changes_host if not bad else any(not _is_ours(one) for one in bad)):
        return _as(error.code, error, path=(bad or rooms)[0].path)
    if error.code == "read-only" and not bad:
        return _as("step-failed", error)  # it was refused something that nobody knows
    paths = ", ".join(room.path for room in bad or rooms)
    paths = paths if bad else text("room.one-of", paths=paths)
    lines = [text("room.left", path=room.path, free=size(room.free)) for room in bad or rooms]
    return _as(_SYSTEM[error.code], error, lines, paths=paths, temp=tempfile.gettempdir())


def written(step: Step, context: Context) -> list[Path]:
    """Where a step writes, that for which it is there first."""
    site = context.site
    own = {"fetch": [site.downloads, site.unpacked], "wheel": [site.builds, site.wheels],
           "built": [site.builds, site.wheels]}  # fmt: skip
    if KINDS[step.kind].leaves_halves:
        names = filter(None, (step.package, *step.debs))
        rows = [context.stack.packages[name] for name in names]
        first = [Path(place) for row in rows for place in row.writes]
        first += [*([Path("/var/lib/dpkg")] if step.debs else []), site.held(step.name)]
    elif KINDS[step.kind].changes_host:
        first = [Path("/usr"), Path("/var")]
    else:
        first = [*own.get(step.kind, [site.env]), uv_cache()]
    return [*first, Path(tempfile.gettempdir()), site.state]


def _rooms(places: Iterable[Path]) -> list[Room]:
    """The room of each file system, by the first of the places on it."""
    rooms: dict[int, Room] = {}
    for place in places:
        room = disk.room("", place)
        rooms.setdefault(room.device, room)
    return list(rooms.values())


def _is_ours(room: Room) -> bool:
    """Whether PADDOCK_HOME decides where the place is."""
    return any(
        Path(room.path).is_relative_to(one) for one in (data_dir(), cache_dir(), state_dir())
    )


def _as(code: str, error: PaddockError, more: Iterable[str] = (), **values: object) -> PaddockError:
    return PaddockError(code, (*error.details, *more), **{**error.values, **values})
