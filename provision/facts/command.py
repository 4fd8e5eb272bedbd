"""Runs a program with a time limit and keeps what it said; nothing it does can hang the caller."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import msgspec

from provision.network import hide_secrets

_KEPT = 256 * 1024  # bytes of each stream: the end is what tells


class Answer(msgspec.Struct, frozen=True):
    """What a program did. `status` is negative for a signal, None when the time limit cut it."""

    status: int | None
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """All lines that are not empty, standard error first."""
        return [line for line in (self.err + "\n" + self.out).splitlines() if line.strip()]


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

    Raises OSError when it cannot be started.
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
        status = _wait(process, limit)
        return Answer(status, _tail(out), _tail(err))


def _wait(process: subprocess.Popen[bytes], limit: float) -> int | None:
    """The exit status; past the limit the whole process group is killed and None returned."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        # Also after a normal end: what it left running in its group would outlive this tool.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _tail(stream: IO[bytes]) -> str:
    """The last part of a stream as text, without secrets; bytes that are no UTF-8 are replaced."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - _KEPT))
    return hide_secrets(stream.read().decode("utf-8", "replace"))
