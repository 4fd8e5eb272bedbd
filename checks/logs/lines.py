"""The numbers of lines. Only a few are ever shown, so a big log is not counted on the way."""

from __future__ import annotations

import fcntl
import functools
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks.logs.telling import Spot
from checks.logs.window import Window

BIG = 1 << 23  # bytes: from here on counting afterwards, and by `wc`, is faster
PIPED = 2  # times the work is a byte that `wc` gets through a pipe, against one of a file


class Counted:
    """The lines before each window of one log.

    They are counted as the windows pass by. In a file that is read as it lies on the disk counting
    stops at BIG; what is asked for beyond is counted there once more, up to the place.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._known = {0: 0}
        self._before = 0

    def pass_by(self, window: Window) -> None:
        """Note the lines before this window."""
        if self._path is not None and window.offset > BIG:
            return
        self._known[window.offset] = self._before
        self._before += window.lines_to(window.stop)

    def number(self, spot: Spot) -> int:
        """The number of a line; the first is 1."""
        if spot.offset not in self._known:
            self._known[spot.offset] = self._count(spot.offset)
        return self._known[spot.offset] + spot.lines + 1

    def _count(self, offset: int) -> int:
        """The lines before an offset, from the nearest one that is known."""
        begin = max(known for known in self._known if known <= offset)
        path, lines = Path(str(self._path)), None
        size = path.stat().st_size
        if (size - begin) + (size - offset) < PIPED * (offset - begin):
            lines = _from_behind(path, begin, offset)
        return self._known[begin] + (_between(path, begin, offset) if lines is None else lines)


def _from_behind(path: Path, begin: int, end: int) -> int | None:
    """How many lines end between two places: those behind the one less those behind the other.

    None where the file changed its size meanwhile, so that this need not be so.
    """
    size = path.stat().st_size
    with ThreadPoolExecutor(2) as pool:
        more, less = pool.map(functools.partial(_behind, path), (begin, end))
    return more - less if path.stat().st_size == size else None


def _behind(path: Path, begin: int) -> int:
    """How many lines end between a place and the end of the file."""
    with path.open("rb", buffering=0) as file:
        file.seek(begin)
        return int(subprocess.check_output(["wc", "-l"], stdin=file))


def _between(path: Path, begin: int, end: int) -> int:
    """How many lines end between two places, by `wc` that gets no more than that."""
    size = end - begin
    with (
        path.open("rb", buffering=0) as file,
        subprocess.Popen(["wc", "-l"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process,
    ):
        assert process.stdin and process.stdout  # noqa: S101 - both were asked for
        file.seek(begin)
        pipe = process.stdin.fileno()
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)
        while size and (moved := os.splice(file.fileno(), pipe, size)):
            size -= moved
        process.stdin.close()
        return int(process.stdout.read())
