"""The room where environments, cache and state live."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from provision.paths import cache_dir, data_dir, state_dir


class Room(msgspec.Struct, frozen=True):
    """The file system below one folder. `free` in bytes, for this user; `inodes` None: unlimited.

    `purpose` is "data", "cache" or "state"; `writable` is about the nearest folder that exists.
    """

    purpose: str
    path: str
    free: int
    inodes: int | None
    read_only: bool
    writable: bool
    device: int


def collect() -> list[Room]:
    """The room of each of the three folders, which need not exist yet."""
    folders = {"data": data_dir(), "cache": cache_dir(), "state": state_dir()}
    return [room(purpose, path) for purpose, path in folders.items()]


def room(purpose: str, path: Path) -> Room:
    """The room at a path or, while it does not exist, at the nearest folder above it."""
    here = next(place for place in (path, *path.parents) if place.exists())
    numbers = os.statvfs(here)
    return Room(
        purpose=purpose,
        path=str(path),
        free=numbers.f_bavail * numbers.f_frsize,
        inodes=numbers.f_favail if numbers.f_files else None,
        read_only=bool(numbers.f_flag & os.ST_RDONLY),
        writable=here.is_dir() and os.access(here, os.W_OK | os.X_OK),
        device=here.stat().st_dev,
    )
