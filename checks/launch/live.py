"""Runs a program in the foreground: its output kept, watched as it comes, ended when it hangs."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from checks.judge.reading import Watcher
from checks.judge.seen import Seen
from checks.judge.signs import anchors
from checks.logs.window import Window
from provision.orphans import MARK, end_orphans
from provision.paths import ROOT

POLL = 0.2  # seconds between looks
EVERY = 10.0  # seconds between two lines about the progress
_PIECE = 1 << 16
_PATIENCE = 10.0  # seconds in which an ended program may tidy up


# Waits for the end of this process, and then ends all that the run has started.
_GUARD = """\
import sys
from provision.orphans import end_orphans
sys.stdin.read()
end_orphans(sys.argv[1])
"""


class Limits(NamedTuple):
    """Seconds without progress until the first step (any output counts), and afterwards."""

    first: float
    silent: float


class Ended(NamedTuple):
    """The exit status (negative: a signal); None for one that was ended, after `silent` seconds
    without progress, or where the user `stopped` it.
    """

    status: int | None
    silent: float
    seconds: float
    stopped: bool = False


class _Reader:
    """Copies a program's output into a log, and sees what is in it."""

    def __init__(self, stream: BinaryIO, log: Path) -> None:
        self.bytes = 0
        self._stream, self._log = stream, log
        self._watcher = Watcher(0)
        self._rest = b""
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    @property
    def seen(self) -> Seen:
        """What was seen by now."""
        return self._watcher.seen

    def _read(self) -> None:
        with self._log.open("ab", buffering=0) as file:
            while piece := os.read(self._stream.fileno(), _PIECE):
                file.write(piece)
                self._look(piece)
            self._look(b"\n")

    def _look(self, piece: bytes) -> None:
        """Look at the whole lines; the begun one waits for its rest."""
        data = self._rest + piece
        cut = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        data, self._rest = data[:cut], data[cut:][-_PIECE:]
        if data:
            held = {word for word in anchors() if word in data}
            window = Window(
                data, 0, len(data), len(data), self.bytes, self.bytes + len(data), False
            )
            self._watcher.look(window, held)
        self.bytes += len(piece)


def run(  # noqa: PLR0913, PLR0917 - how, where, and who is told
    argv: Sequence[str | Path], variables: Mapping[str, str], folder: Path, log: Path,
    limits: Limits, tell: Callable[[Seen], None], others: Callable[[], Sequence[Path]] = tuple,
) -> Ended:  # fmt: skip
    """Run a program to its end. `others` are the logs of its ranks, whose growth counts as output.

    Nothing of it outlives the call, nor this process if that is killed. Raises OSError when it
    cannot be started.
    """
    began, mark = time.monotonic(), f"level-{os.getpid()}-{time.time_ns()}"
    status, silent, stopped = None, 0.0, False
    with _guarded(mark):
        process = subprocess.Popen(
            argv, env={**variables, MARK: mark}, cwd=folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None  # noqa: S101 - it was asked for
        reader = _Reader(process.stdout, log)  # type: ignore[arg-type]
        try:
            status, silent = _wait(process, reader, limits, tell, others)
        except KeyboardInterrupt:  # what there is by now is worth a verdict
            stopped = True
        finally:
            _end(process, mark)
            reader.thread.join(_PATIENCE)
    return Ended(status, silent, time.monotonic() - began, stopped)


@contextlib.contextmanager
def _guarded(mark: str) -> Iterator[None]:
    """End what carries a mark when this process ends meanwhile, also by SIGKILL.

    Ranks have sessions of their own, so no group of processes holds them all.
    """
    argv = [sys.executable, "-c", _GUARD, mark]
    with subprocess.Popen(
        argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    ):  # fmt: skip
        yield


def _wait(
    process: subprocess.Popen[bytes], reader: _Reader, limits: Limits, tell: Callable[[Seen], None],
    others: Callable[[], Sequence[Path]],
) -> tuple[int | None, float]:  # fmt: skip
    """The exit status; None after the seconds that passed without progress."""
    mark: object = None
    since = told = time.monotonic()
    while (status := process.poll()) is None:
        now, seen = time.monotonic(), reader.seen
        # Once there are steps only a new one counts: a hanging rank's others still write.
        latest = seen.step if seen.step is not None else (reader.bytes, _sizes(others()))
        if latest != mark:
            mark, since = latest, now
        elif now - since > (limits.first if seen.step is None else limits.silent):
            return None, now - since
        if now - told > EVERY:
            told = now
            tell(seen)
        time.sleep(POLL)
    return status, 0.0


def _sizes(files: Sequence[Path]) -> int:
    """The bytes of these files; one that is gone has none."""
    total = 0
    for file in files:
        with contextlib.suppress(OSError):
            total += file.stat().st_size
    return total


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    """End the program, its ranks in sessions of their own too; first kindly, then by force."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, sent)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE)
    end_orphans(mark, patience=2.0)
