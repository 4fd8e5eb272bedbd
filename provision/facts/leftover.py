"""What the journal says about runs that did not end well."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import msgspec

from provision.journal import UNFINISHED, Event, Journal
from provision.site import Site


class Step(msgspec.Struct, frozen=True):
    """A step whose last entry is no success. `time` is seconds since 1970."""

    name: str
    event: Event
    time: float
    log: str


class Leftover(msgspec.Struct, frozen=True):
    """The unfinished steps, and whether a run is going on right now."""

    journal: str
    running: bool
    steps: list[Step]


def collect(site: Site) -> Leftover:
    """Read the journal of a target; a journal that does not exist has no steps."""
    last = Journal(site.journal).last().items()
    open_ends = [
        Step(name, entry.event, entry.time, entry.log)
        for name, entry in last
        if entry.event in UNFINISHED
    ]
    return Leftover(str(site.journal), locked(site.state / "lock"), open_ends)


def locked(path: Path) -> bool:
    """Whether another process holds this lock file. Never waits, creates nothing."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
