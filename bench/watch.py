"""A command on a terminal of its own, its peak memory read while it runs."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from bench.cost import Command, Cost

_EVERY = (
    0.01  # seconds between looks: the peak that Linux keeps never falls, so the last one counts
)


@dataclass(frozen=True)
class Watched:
    """The cost of a run, and the most memory in MB that its process held, without children."""

    cost: Cost
    peak: float


def watch(command: Command) -> Watched:
    """Run one command on a terminal. Raises CommandFailed.

    The kernel's account of a finished process takes the largest of its children in, a compiler
    say; so the process itself is looked at while it lives.
    """
    own, its = pty.openpty()
    began = time.perf_counter()
    process = subprocess.Popen(
        command.argv, cwd=command.folder, env={**os.environ, "TERM": "xterm", **command.variables},
        stdin=its, stdout=its, stderr=its,
    )  # fmt: skip
    os.close(its)
    shown: list[bytes] = []
    reader = threading.Thread(target=_drain, args=(own, shown))
    reader.start()
    peak, status, usage = 0.0, 0, None
    while usage is None:
        peak = max(peak, _peak(process.pid))
        ended, status, found = os.wait4(process.pid, os.WNOHANG)
        usage = found if ended else None
        time.sleep(_EVERY)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    reader.join()
    os.close(own)
    command.check(process.returncode, b"".join(shown))
    return Watched(Cost(wall, usage.ru_utime + usage.ru_stime), peak)


def _drain(terminal: int, shown: list[bytes]) -> None:
    """Take what the command writes, so that it never waits for a reader."""
    while True:
        try:
            shown.append(os.read(terminal, 65536))
        except OSError:  # the last process on it has gone
            return


def _peak(pid: int) -> float:
    """The largest resident set so far, in MB; 0 once the process has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    match = re.search(r"VmHWM:\s+(\d+) kB", text)
    return int(match[1]) * 1024 / 1e6 if match else 0.0
