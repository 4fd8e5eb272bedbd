"""Room on the disks for what a plan would make: seen before anything is changed."""

from __future__ import annotations

import functools
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from provision.amounts import size
from provision.distributions import normal, pins
from provision.document import Table, read
from provision.errors import PaddockError
from provision.facts import disk
from provision.paths import IMAGES, cache_dir
from provision.plan import Planned
from provision.steps.base import Context
from provision.vendor import deps
from provision.vendor.rows import Package
from provision.words import text


class Measured(Table, frozen=True):
    """Where the sizes of the distributions come from."""

    source: str
    seen: str


class Catalogue(Table, frozen=True):
    """`images/room.toml`: bytes by distribution."""

    schema: int
    distributions: dict[str, int]
    measured: Measured


class Need(NamedTuple):
    """Bytes that something takes at a path."""

    path: Path
    bytes: int


class Place(NamedTuple):
    """A file system by one path on it: what the plan needs there, and what is free, in bytes."""

    path: Path
    bytes: int
    free: int

    @property
    def told(self) -> str:
        """The place as a person reads it."""
        short = self.bytes - self.free
        key = "room.short" if short > 0 else "room.enough"
        return text(key, path=self.path, needed=size(self.bytes), free=size(self.free),
                    short=size(short))  # fmt: skip


def places(context: Context, planned: Iterable[Planned]) -> list[Place]:
    """What the pending steps need on each file system, at the least."""
    by_device: dict[int, list[Need]] = defaultdict(list)
    free: dict[int, int] = {}
    for need in _needs(context, [one for one in planned if one.state == "pending"]):
        room = disk.room("", need.path)
        by_device[room.device].append(need)
        free[room.device] = room.free
    return [
        Place(max(needs, key=lambda need: need.bytes).path, sum(need.bytes for need in needs),
              free[device])
        for device, needs in by_device.items()
    ]  # fmt: skip


def check(context: Context, planned: Iterable[Planned]) -> None:
    """Raises PaddockError `no-room` where a disk has less than the pending steps take."""
    if short := [one for one in places(context, planned) if one.free < one.bytes]:
        paths = ", ".join(str(one.path) for one in short)
        raise PaddockError("no-room", tuple(one.told for one in short), paths=paths)


def _needs(context: Context, pending: list[Planned]) -> Iterator[Need]:
    """What each of the steps takes, and where."""
    given = {found.path: row for one in pending for row, found in _found(one, context)
             if found.is_here and found.path.is_file()}  # fmt: skip
    if largest := max(map(_size, given), default=0):
        # An installer unpacks itself there, into more than it is; then the next one does.
        yield Need(Path(tempfile.gettempdir()), largest)
    for path, row in given.items():
        yield Need(Path(next(iter(row.writes), "/usr")), _size(path))
    archives = {found.archive for one in pending for _, found in _found(one, context)}
    yield from (Need(context.site.unpacked, _size(one)) for one in archives if one)
    yield from _environment(context, pending)


def _environment(context: Context, pending: list[Planned]) -> Iterator[Need]:
    """What the locks put into the environment, and what of that has to come into the cache first.

    On one disk, uv links the files of the environment to those of its cache.
    """
    known, cache = catalogue().distributions, uv_cache()
    linked = os.environ.get("UV_LINK_MODE", "hardlink") == "hardlink"
    one_disk = disk.room("", cache).device == disk.room("", context.site.env).device
    for name, version in _distributions(context, pending).items():
        is_cached = any(cache.glob(f"wheels-v*/pypi/{name}/{version}-*"))
        if not is_cached:
            yield Need(cache, known.get(name, 0))
        if not (linked and one_disk):
            yield Need(context.site.env, known.get(name, 0))


def _distributions(context: Context, pending: list[Planned]) -> dict[str, str]:
    """Normalised name and version of what the locks of the steps pin."""
    locks = [context.lock(one.step.lock) for one in pending if one.step.lock]
    python = f"{context.tag[2:3]}.{context.tag[3:]}.0" if context.tag else "3.10.0"
    found: dict[str, str] = {}
    for lock in filter(Path.is_file, locks):
        found |= pins(lock.read_text(encoding="utf-8"), python)
    return {normal(name): version for name, version in found.items()}


def _found(one: Planned, context: Context) -> Iterator[tuple[Package, deps.Found]]:
    """The vendor's packages of a step, as far as there is something of them."""
    if one.step.kind in ("vendor", "debs"):
        rows = [context.stack.packages[name] for name in (one.step.package, *one.step.debs) if name]
        yield from ((row, found) for row in rows if (found := deps.find(row, context)))


def uv_cache() -> Path:
    """uv's cache, where `Settings.variables` puts it."""
    return Path(os.environ.get("UV_CACHE_DIR") or cache_dir() / "uv")


def _size(path: Path) -> int:
    return path.stat().st_size


@functools.cache
def catalogue() -> Catalogue:
    """The measured sizes. Raises PaddockError `stack-*` for a file that does not fit."""
    return read(IMAGES / "room.toml", Catalogue, Measured)
