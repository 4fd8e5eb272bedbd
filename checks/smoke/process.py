"""Runs one probe: a process group of its own, cut when silent, its log read as it comes."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

POLL = 0.1  # seconds
DRAIN = 5.0  # seconds that a dead probe's log may take to be read

# Paddle writes one such line for each call that its CPU kernel answers.
FALLBACK = re.compile(r"missing \w+ kernel: (\w+), .*fallbacking to CPU one!")
# Needed for these lines. GLOG_vmodule would keep the log small, but with it paddlepaddle 3.3.1 ends
# in heap corruption at exit and then hangs: seen on the CPU with no plugin installed, too.
LOUD = {"GLOG_v": "3"}
# A probe's own lines around a call of an operator that it tests: what is between belongs to it.
MARK = re.compile(r"paddock: (?:in (\S+)|out)$")
# The rest of what that makes Paddle say: information lines, and the tensors printed below them.
NOISE = re.compile(
    r"I\d{4} |[\t={(}]|\s*$|\w+ Debug Info|API_Name:| ?(In|Out)put: \[|.*No ccache found"
)
KEPT = 30  # lines

Event = dict[str, Any]


@dataclass
class Ended:
    """How a probe ended, and what it left.

    `status` is the exit status, negative for a signal; None when it was cut after `limit` seconds
    without news. `fallback` counts the CPU's kernels by name; `fallback_in` has their names for
    each operator that the probe has marked.
    """

    status: int | None
    limit: float
    seconds: float
    events: list[Event]
    fallback: dict[str, int]
    log: tuple[str, ...]
    fallback_in: dict[str, set[str]] = field(default_factory=dict)


@dataclass
class Log:
    """A probe's output as it passes: fallbacks are counted, the last telling lines kept."""

    fallback: Counter[str] = field(default_factory=Counter)
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT))
    marked: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def read(self, stream: Iterable[bytes]) -> None:
        """Read until the stream ends."""
        within: str | None = None
        for raw in stream:
            line = raw.decode(errors="replace").rstrip()
            if found := FALLBACK.search(line):
                self.fallback[found[1]] += 1
                if within:
                    self.marked[within].add(found[1])
            elif mark := MARK.match(line):
                within = mark[1]
            elif not NOISE.match(line):
                self.lines.append(line)


def events_of(file: Path) -> list[Event]:
    """The events in a result file, without an unfinished last line and lines that are none."""
    try:
        lines = file.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    return [event for line in lines if (event := _event(line))]


def _event(line: bytes) -> Event | None:
    try:
        found = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("event"), str) else None


def run_probe(
    command: Sequence[str], out: Path, limit: float, variables: Mapping[str, str]
) -> Ended:
    """Run a probe that writes its events to `out`, until it ends or is silent for `limit` seconds.

    Nothing of its process group outlives the call, whatever ends it. Raises OSError when the
    command cannot be started.
    """
    begin = time.monotonic()
    process = subprocess.Popen(
        command, env={**variables, **LOUD}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    log = Log()
    assert process.stdout is not None  # noqa: S101 (for the type checker)
    reader = threading.Thread(target=log.read, args=(process.stdout,), daemon=True)
    reader.start()
    try:
        status = _wait(process, lambda: _size(out), limit)
    finally:
        _kill(process)
        reader.join(DRAIN)
    seconds = time.monotonic() - begin
    return Ended(
        status, limit, seconds, events_of(out), dict(log.fallback), tuple(log.lines),
        dict(log.marked),
    )  # fmt: skip


def _wait(
    process: subprocess.Popen[bytes], news: Callable[[], int], limit: float
) -> int | None:  # fmt: skip
    """The exit status; None when `news` has not changed for `limit` seconds."""
    last, since = news(), time.monotonic()
    while (status := process.poll()) is None:
        now = time.monotonic()
        if (latest := news()) != last:
            last, since = latest, now
        elif now - since > limit:
            return None
        time.sleep(POLL)
    return status


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the probe and all that it started."""
    with contextlib.suppress(ProcessLookupError):  # nothing of it is left
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
