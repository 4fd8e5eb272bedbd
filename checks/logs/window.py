"""A log as a row of windows: each a few MiB, cut between lines, memory never more than that."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

SIZE = 1 << 21  # bytes
AROUND = 4096  # bytes kept on both sides of what is searched, for the lines around a find
RING = 3  # windows in memory
OVERLAP = 256  # bytes searched twice where a line without an end had to be cut
LINE = 2048  # bytes of a line, before and after a word, that are looked at

_COLOUR = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")


@dataclass(frozen=True)
class Window:
    """`data[start:stop]` is to be searched; `offset` is where that begins in the log.

    `exact`: each byte stands where it stands in the file, so that the file can be read there again.
    """

    data: bytearray | bytes
    start: int
    stop: int
    end: int
    offset: int
    exact: bool

    def line(self, place: int) -> tuple[int, int]:
        """Where the line around a place begins and ends; a long one is cut.

        A carriage return ends a line too: a progress bar writes its states one over the other.
        """
        low, high = max(place - LINE, 0), min(place + LINE, self.end)
        begin = max(self.data.rfind(sign, low, place) for sign in (b"\n", b"\r"))
        ends = (self.data.find(sign, place, high) for sign in (b"\n", b"\r"))
        return max(begin + 1, low), min((end for end in ends if end >= 0), default=high)

    def before(self, begin: int, count: int) -> list[str]:
        """Up to `count` lines that stand above the one that begins here."""
        lines = bytes(self.data[max(begin - AROUND, 0) : begin]).splitlines()
        return [shown(line) for line in lines[-count:]]

    def after(self, end: int, count: int) -> list[str]:
        """Up to `count` lines that stand below the one that ends here."""
        lines = bytes(self.data[end : min(end + AROUND, self.end)]).splitlines()
        return [shown(line) for line in lines[1 : count + 1]]

    def lines_to(self, place: int) -> int:
        """How many lines end between the beginning of the search and a place."""
        return self.data.count(b"\n", self.start, place)


def windows(stream: BinaryIO, exact: bool, size: int = SIZE) -> Iterator[Window]:
    """The whole stream, window after window; a window is valid until RING more were asked for."""
    ring = itertools.cycle([bytearray(size) for _ in range(RING)])
    data = next(ring)
    start = filled = begin = 0  # `begin`: where the data begins in the log
    while True:
        while filled < size and (got := stream.readinto(memoryview(data)[filled:])):  # type: ignore[attr-defined]
            filled += got
        ended = filled < size
        stop = filled if ended else _cut(data, start, filled)
        yield _uncoloured(Window(data, start, stop, filled, begin + start, exact))
        if ended:
            return
        kept = max(stop - AROUND, 0)
        again = 0 if data[stop - 1] in b"\r\n" else OVERLAP
        rest, data = memoryview(data)[kept:filled], next(ring)
        data[: filled - kept] = rest
        start, filled, begin = stop - kept - again, filled - kept, begin + kept


def _cut(data: bytearray, start: int, filled: int) -> int:
    """Where to end a search: after a line, with something left to show below it."""
    last = filled - AROUND
    cuts = (data.rfind(sign, start, last) for sign in (b"\n", b"\r"))
    return next((cut for cut in cuts if cut >= 0), last - 1) + 1


def _uncoloured(window: Window) -> Window:
    """The same without the codes that colour a terminal; they may stand within a word."""
    if window.data.find(b"\x1b", 0, window.end) < 0:
        return window
    places = (0, window.start, window.stop, window.end)
    parts = [_COLOUR.sub(b"", window.data[low:high]) for low, high in itertools.pairwise(places)]
    head, body, rest = map(len, parts)
    return Window(b"".join(parts), head, head + body, head + body + rest, window.offset, False)


def shown(line: bytes) -> str:
    """A line as text: UTF-8, else GBK, else what of it is ASCII."""
    for codec in ("utf-8", "gb18030"):
        try:
            return line.decode(codec).strip("\ufeff\r\n")
        except UnicodeDecodeError:
            continue
    return line.decode("utf-8", "replace").strip("\r\n")
