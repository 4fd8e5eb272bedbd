"""Runs a program with a time limit and keeps what it said; nothing it does can hang the caller."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import msgspec

from provision.network import hide_values

_AFTER = 2.0  # seconds for the end of a process that was killed
_KEPT = 256 * 1024  # bytes of each stream: the end is what tells
_MOST = 64 << 20  # bytes of a stream; a program that says more is ended: it would fill the disk
_LOOK = 0.2  # seconds between two looks at how much was said
# Waits for the end of this process, by whatever signal, and then ends a group of processes.
_GUARD = 'read -r _; kill -s KILL -- "-$1"'


class Answer(msgspec.Struct, frozen=True):
    """What a program did. `status` is negative for a signal, None when the time limit cut it.

    One that says too much is ended with SIGKILL, and `err` tells it.
    """

    status: int | None
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """All lines that are not empty, standard error first."""
        return [line for line in (self.err + "\n" + self.out).splitlines() if line.strip()]

    @property
    def last(self) -> str:
        """The last line, "" for none: of a program that has failed of what it said about that."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        return lines[-1] if self.status and lines else self.lines[-1].strip() if self.lines else ""


def signal_name(number: int) -> str:
    """The name of a signal, such as SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def run(
    argv: Sequence[str | Path],
    limit: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Answer:
    """Run a program for at most `limit` seconds, in a session of its own, without input.

    It does not outlive this process, however that ends. Raises OSError when it cannot be started.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=None if env is None else dict(env),
            cwd=cwd,
            start_new_session=True,
        )
        status = _wait(process, limit, (out, err))
        much = f"\nmore than {_MOST >> 20} MiB of output" if _flooded((out, err)) else ""
        return Answer(status, _tail(out), _tail(err) + much)


def _wait(
    process: subprocess.Popen[bytes], limit: float, streams: Sequence[IO[bytes]]
) -> int | None:
    """The exit status; past the limit the whole process group is killed and None returned."""
    try:
        with _guarded(process.pid):
            return _watched(process, limit, streams)
    except subprocess.TimeoutExpired:
        return None
    finally:
        # Also after a normal end: what it left running in its group would outlive this tool.
        _end(process.pid)
        # Within a driver that hangs no signal ends it: then it is left alone.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_AFTER)


def _watched(process: subprocess.Popen[bytes], limit: float, streams: Sequence[IO[bytes]]) -> int:
    """The exit status; a flood of output is ended. Raises TimeoutExpired past the limit."""
    end = time.monotonic() + limit
    while (left := end - time.monotonic()) > _LOOK:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return _ended(process, _LOOK)
        if _flooded(streams):
            _end(process.pid)
    return _ended(process, max(left, 0))


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int:
    """The exit status of a process that ends within that time. Raises TimeoutExpired.

    `Popen.wait` alone would look every 50 ms only.
    """
    end = time.monotonic() + seconds
    with contextlib.suppress(OSError, AttributeError):  # a kernel before 5.3, or a Python for one
        handle = os.pidfd_open(process.pid)
        try:
            ending = select.poll()
            ending.register(handle, select.POLLIN)
            ending.poll(seconds * 1000)
        finally:
            os.close(handle)
    return process.wait(max(0.0, end - time.monotonic()))


def _flooded(streams: Sequence[IO[bytes]]) -> bool:
    return any(os.fstat(stream.fileno()).st_size > _MOST for stream in streams)


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


@contextlib.contextmanager
def _guarded(group: int) -> Iterator[None]:
    """End a group of processes when this process ends meanwhile, also by SIGKILL."""
    with subprocess.Popen(
        ["/bin/sh", "-c", _GUARD, "sh", str(group)], cwd="/", stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    ) as guard:  # fmt: skip
        try:
            yield
        finally:
            guard.kill()


def _tail(stream: IO[bytes]) -> str:
    """The last part of a stream as text, without secrets; bytes that are no UTF-8 are replaced."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - _KEPT))
    return hide_values(stream.read().decode("utf-8", "replace"))
