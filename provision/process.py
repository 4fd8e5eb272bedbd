"""Runs a step's script: its own process group, its output to a log and to a listener."""

from __future__ import annotations

import collections
import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from provision.network import hide_secrets

TAIL = 20
# Every process of a run carries this variable, so that a run after a SIGKILL finds the orphans.
MARK = "PADDOCK_RUN"


@dataclass(frozen=True)
class Outcome:
    """How a script ended: its exit status (negative: the signal) and its last lines."""

    status: int
    tail: tuple[str, ...]


class Stopped(Exception):
    """The run was cancelled while this script ran."""


class Processes:
    """The scripts that run now; `stop` ends them all and lets no new one begin."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._stopped = False

    def run(
        self, script: Path, log: Path, variables: Mapping[str, str], listen: Callable[[str], None]
    ) -> Outcome:
        """Run a script to its end. Raises Stopped when `stop` was called before or meanwhile."""
        with self._lock:
            if self._stopped:
                raise Stopped
            process = subprocess.Popen(
                ["/bin/sh", "-eu", script], env=dict(variables), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                text=True, errors="replace",
            )  # fmt: skip
            self._groups.add(process.pid)
        try:
            tail = _copy(process, log, listen)
            status = process.wait()
        finally:
            _signal_group(process.pid, signal.SIGKILL)
            self._groups.discard(process.pid)
        if self._stopped:
            raise Stopped
        return Outcome(status, tail)

    def stop(self, patience: float = 5.0) -> None:
        """Ask every running group to end; after `patience` seconds, end it."""
        with self._lock:
            self._stopped = True
            groups = set(self._groups)
        for sent in (signal.SIGTERM, signal.SIGKILL):
            for group in groups & self._groups:
                _signal_group(group, sent)
            waited = threading.Event()
            for _ in range(int(patience * 10)):
                if not groups & self._groups:
                    return
                waited.wait(0.1)


def _copy(
    process: subprocess.Popen[str], log: Path, listen: Callable[[str], None]
) -> tuple[str, ...]:
    """Stream the output into the log, secrets hidden; returns the last lines."""
    tail: collections.deque[str] = collections.deque(maxlen=TAIL)
    assert process.stdout is not None  # noqa: S101 - it was asked for
    with process.stdout as output, log.open("w", encoding="utf-8") as file:
        for raw in output:
            line = hide_secrets(raw.rstrip())
            file.write(line + "\n")
            file.flush()
            tail.append(line)
            listen(line)
    return tuple(tail)


def _signal_group(group: int, number: int) -> None:
    """Send a signal to a group that may have ended already."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def end_orphans(run: str) -> int:
    """End what a killed run left running, found by the mark in its environment; returns how many.

    Without this a compiler or installer of the killed run would write beside the resumed one.
    """
    needle = f"{MARK}={run}\0".encode()
    ended = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if needle in (folder / "environ").read_bytes() + b"\0":
                os.kill(int(folder.name), signal.SIGKILL)
                ended += 1
    return ended
