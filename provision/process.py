"""Runs a step's script: its own process group, its output to a log and to a listener."""

from __future__ import annotations

import collections
import contextlib
import os
import signal
import subprocess
import threading
import time
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
                encoding="utf-8", errors="replace",
                cwd=script.parent,  # uv reads a configuration from where it is started
            )  # fmt: skip
            self._groups.add(process.pid)
        reaper = threading.Thread(target=_reap, args=(process, variables.get(MARK, "")))
        reaper.start()
        try:
            tail = _copy(process, log, listen)
        except BaseException:
            _signal_group(process.pid, signal.SIGKILL)
            raise
        finally:
            reaper.join()
            self._groups.discard(process.pid)
        if self._stopped:
            raise Stopped
        return Outcome(process.returncode, tail)

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


def _reap(process: subprocess.Popen[str], mark: str) -> None:
    """Wait for a script, then end what it left running: that would hold its output open."""
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # its group keeps its number
    _signal_group(process.pid, signal.SIGKILL)
    process.wait()
    if mark:
        end_orphans(mark, patience=2.0)


def _signal_group(group: int, number: int) -> None:
    """Send a signal to a group that may have ended already."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def end_orphans(run: str, patience: float = 10.0) -> int:
    """End what a killed run left running, found by the mark in its environment; returns how many.

    Without this a compiler or installer of the killed run would write beside the resumed one. A
    package manager gets `patience` seconds to leave its database in order. What carries a mark
    below this one, `RUN/step`, is ended too; this process itself is not.
    """
    needle = f"{MARK}={run}".encode()
    ended = set()
    deadline = time.monotonic() + patience
    while (orphans := _marked(needle)) and time.monotonic() < deadline + patience:
        ended |= orphans
        sent = signal.SIGTERM if time.monotonic() < deadline else signal.SIGKILL
        for process in orphans:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, sent)
        time.sleep(0.05)
    return len(ended)


def _marked(needle: bytes) -> set[int]:
    """The living processes that carry a mark. One that ended but was not reaped has none."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            variables = (folder / "environ").read_bytes().split(b"\0")
            if any(v == needle or v.startswith(needle + b"/") for v in variables):
                found.add(int(folder.name))
    return found - {os.getpid()}
