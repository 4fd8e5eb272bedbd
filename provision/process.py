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
from typing import IO

from provision.network import hide_secrets
from provision.orphans import MARK, end_orphans
from provision.output import Lasting, Output
from provision.stream import settled

TAIL = 20


@dataclass(frozen=True)
class Outcome:
    """How a script ended: its exit status (negative: the signal) and its last lines."""

    status: int
    tail: tuple[str, ...]


class Stopped(Exception):
    """The run was cancelled while this script ran."""


class Processes:
    """The scripts that run now; `stop` ends them and lets no new one begin.

    A lasting script comes to its own end all the same, unless `stop` is told otherwise.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: dict[int, str] = {}  # with its name where it has to come to its own end
        self._outputs: dict[int, Output] = {}
        self._ended: set[int] = set()
        self._stopped = False

    def run(
        self, script: Path, log: Path, variables: Mapping[str, str], listen: Callable[[str], None],
        lasting: Lasting | None = None,
    ) -> Outcome:  # fmt: skip
        """Run a script to its end. Raises Stopped where `stop` came before, or has ended it.

        Raises OSError where its log cannot be written: a lasting one is read to its end before.
        """
        with self._lock:
            if self._stopped:
                raise Stopped
            process = subprocess.Popen(
                ["/bin/sh", "-eu", script], env=dict(variables), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                cwd=script.parent,  # uv reads a configuration from where it is started
            )  # fmt: skip
            self._groups[process.pid] = lasting.name if lasting else ""
            output = self._outputs[process.pid] = Output(_stream(process).fileno(), lasting)
        reaper = threading.Thread(target=_reap, args=(process, variables.get(MARK, "")))
        reaper.start()
        try:
            tail = _copy(output, log, listen)
        except BaseException:
            _drain(output) if lasting else signal_group(process.pid, signal.SIGKILL)
            raise
        finally:
            reaper.join()
            _stream(process).close()
            with self._lock:
                del self._groups[process.pid], self._outputs[process.pid]
        if process.pid in self._ended:
            raise Stopped
        return Outcome(process.returncode, tail)

    def lasting(self) -> dict[str, float]:
        """The running scripts that have to come to their own end, by name.

        Each with the seconds since it last printed something.
        """
        now = time.monotonic()
        with self._lock:
            return {name: now - self._outputs[group].heard
                    for group, name in self._groups.items() if name}  # fmt: skip

    def stop(self, patience: float = 5.0, *, lasting: bool = False) -> None:
        """Ask the running groups to end, the lasting ones only where told so.

        After `patience` seconds, end them.
        """
        with self._lock:
            self._stopped = True
            groups = {group for group, name in self._groups.items() if lasting or not name}
            self._ended |= groups
        for sent in (signal.SIGTERM, signal.SIGKILL):
            for group in self._left(groups):
                signal_group(group, sent)
            waited = threading.Event()
            for _ in range(int(patience * 10)):
                if not self._left(groups):
                    return
                waited.wait(0.1)

    def _left(self, groups: set[int]) -> set[int]:
        """Those of the groups that run still."""
        with self._lock:
            return groups & self._groups.keys()


def _copy(output: Output, log: Path, listen: Callable[[str], None]) -> tuple[str, ...]:
    """Stream the output into the log, secrets hidden; returns the last lines."""
    tail: collections.deque[str] = collections.deque(maxlen=TAIL)
    with log.open("w", encoding="utf-8") as file:
        for raw in output.lines():
            file.write(hide_secrets(raw.rstrip()) + "\n")
            file.flush()
            if line := hide_secrets(settled(raw)):
                tail.append(line)
            listen(line)
    return tuple(tail)


def _stream(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    return process.stdout


def _drain(output: Output) -> None:
    """Read the rest for nobody: without a reader the next line that it writes would end it."""
    for _ in output.lines():
        pass


def _reap(process: subprocess.Popen[bytes], mark: str) -> None:
    """Wait for a script, then end what it left running: that would hold its output open."""
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # its group keeps its number
    signal_group(process.pid, signal.SIGKILL)
    process.wait()
    if mark:
        end_orphans(mark, patience=2.0)


def signal_group(group: int, number: int) -> None:
    """Send a signal to a group that may have ended already."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
