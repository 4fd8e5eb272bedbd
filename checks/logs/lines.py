"""The numbers of lines. Only a few are ever shown, so a big log is not counted on the way."""

from __future__ import annotations

import fcntl
import os
import subprocess

from checks.logs.telling import Spot
from checks.logs.window import Window

BIG = 1 << 23  # bytes: from here on counting afterwards, and by `wc`, is faster


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
        with open(str(self._path), "rb", buffering=0) as file:  # noqa: PTH123
            file.seek(begin)
            return self._known[begin] + _newlines(file.fileno(), offset - begin)


def _newlines(file: int, size: int) -> int:
    """How many lines end within the next `size` bytes of a file."""
    with subprocess.Popen(["wc", "-l"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout  # noqa: S101 - both were asked for
        pipe = process.stdin.fileno()
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)
        while size and (moved := os.splice(file, pipe, size)):
            size -= moved
        process.stdin.close()
        return int(process.stdout.read())
