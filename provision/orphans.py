"""Finds and ends what a killed run left running, by the mark that its processes carry."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

# Every process of a run carries this variable, so that a run after a SIGKILL finds the orphans.
MARK = "PADDOCK_RUN"
# This one, with the same value, stands beside it where the process must not be cut short.
LASTING = "PADDOCK_LASTING"


def still_lasting(mark: str, patience: float = 10.0) -> int | None:
    """The number of a process that goes on after its run was killed and must not be cut short.

    None where it ends within `patience` seconds, or has ended.
    """
    needle, deadline = f"{LASTING}={mark}".encode(), time.monotonic() + patience
    while (found := _marked(needle)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return min(found, default=None)


def end_orphans(run: str, patience: float = 10.0) -> int:
    """End what a killed run left running, found by the mark in its environment; returns how many.

    Without this a compiler or installer of the killed run would write beside the resumed one. A
    package manager gets `patience` seconds to leave its database in order. What carries a mark
    below this one, `RUN/step`, is ended too; this process itself is not.

    The mark of some processes cannot be read: apt-get has changed its user and back, so in a
    container, where root may not trace, its variables are hidden. It is found by its session.
    """
    needle = f"{MARK}={run}".encode()
    ended: set[int] = set()
    deadline = time.monotonic() + patience
    while (orphans := _of_run(needle, ended)) and time.monotonic() < deadline + patience:
        ended |= orphans
        sent = signal.SIGTERM if time.monotonic() < deadline else signal.SIGKILL
        for process in orphans:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, sent)
        time.sleep(0.05)
    return len(ended)


def _of_run(needle: bytes, known: set[int]) -> set[int]:
    """The marked processes, and all in a session that one of them, or of the `known`, leads."""
    marked = _marked(needle)
    led = marked | known
    found = {process for process, session in _sessions() if session in led}
    return (marked | found) - {os.getpid()}


def _sessions() -> Iterator[tuple[int, int]]:
    """Each living process with its session, which is the number of the process that leads it."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # After the name, which is in brackets: state, parent, group, session.
            state, _, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            if state != "Z":
                yield int(folder.name), int(session)


def _marked(needle: bytes) -> set[int]:
    """The living processes that carry a mark. One that ended but was not reaped has none."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            variables = (folder / "environ").read_bytes().split(b"\0")
            if any(v == needle or v.startswith(needle + b"/") for v in variables):
                found.add(int(folder.name))
    return found - {os.getpid()}
