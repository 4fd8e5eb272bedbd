"""The numbers of lines. Only a few are ever shown, so not each window of a big log is counted."""

from __future__ import annotations

import fcntl
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks.logs.telling import Spot
from checks.logs.window import Window

BIG = 1 << 23  # bytes: from here on `wc` counts, which is faster
PIPED = 2  # times the work is a byte that `wc` gets through a pipe, against one of a file
_ASIDE = ThreadPoolExecutor(1)  # waits for `wc`


class Counted:
    """The lines before each window of one log.

    They are counted as the windows pass by. Of a file that is read as it lies on the disk, what
    follows BIG is counted at once in a process of its own, while the search goes on: what is found
    is mostly found at the end.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._known = {0: 0}
        self._before = 0
        self._rest: _Rest | None = None

    def pass_by(self, window: Window) -> None:
        """Note the lines before this window."""
        if self._rest:
            return
        self._known[window.offset] = self._before
        if self._path is not None and window.offset > BIG:
            self._rest = _Rest(Path(self._path), window.offset)
        else:
            self._before += window.lines_to(window.stop)

    def number(self, spot: Spot) -> int:
        """The number of a line; the first is 1."""
        if spot.offset not in self._known:
            self._known[spot.offset] = self._count(spot.offset)
        return self._known[spot.offset] + spot.lines + 1

    def _count(self, offset: int) -> int:
        """The lines before an offset: from the nearest one that is known, or from behind."""
        begin = max(known for known in self._known if known <= offset)
        path, rest, lines = Path(str(self._path)), self._rest, None
        if rest and path.stat().st_size - offset < PIPED * (offset - begin):
            begin, lines = rest.begin, rest.up_to(offset)
        return self._known[begin] + (_between(path, begin, offset) if lines is None else lines)


class _Rest:
    """The lines of a file behind a place, which are counted from now on."""

    def __init__(self, path: Path, begin: int) -> None:
        self.begin = begin
        self._path = path
        self._found = _ASIDE.submit(lambda: (path.stat().st_size, _behind(path, begin)))

    def up_to(self, end: int) -> int | None:
        """How many end between that place and another: those behind it less those behind this.

        None where the file changed its size meanwhile, so that this need not be so.
        """
        size, lines = self._found.result()
        found = lines - _behind(self._path, end)
        return found if self._path.stat().st_size == size else None


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
