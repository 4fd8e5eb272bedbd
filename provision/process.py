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
from provision.orphans import MARK, end_orphans

TAIL = 20


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
