"""A window: a piece of a log in memory, cut between lines, with what stands around it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from checks.logs.colours import ESCAPE, uncoloured

AROUND = 4096  # bytes kept on both sides of what is searched, for the lines around a find
OVERLAP = 256  # bytes searched twice where a line without an end had to be cut
LINE = 2048  # bytes of a line, before and after a word, that are looked at


@dataclass(frozen=True)
class Window:
    """`data[start:stop]` is to be searched; in the log that begins at `offset`, ends at `until`.

    `exact`: each byte stands where it stands in the file, so that the file can be read there again.
    """

    data: bytearray | bytes
    start: int
    stop: int
    end: int
    offset: int
    until: int
    exact: bool

    def line(self, place: int) -> tuple[int, int]:
        """Where the line around a place begins and ends; a long one is cut.

        A carriage return ends a line too: a progress bar writes its states one over the other.
        """
        data, low, high = self.data, place - LINE, place + LINE
        low = low if low > 0 else 0  # max() and min() would take half of the time here
        high = high if high < self.end else self.end
        begin = data.rfind(b"\n", low, place) + 1 or low
        end = data.find(b"\n", place, high)
        end = high if end < 0 else end
        if self._turns:
            begin = max(begin, data.rfind(b"\r", low, place) + 1)
            turned = data.find(b"\r", place, end)
            end = end if turned < 0 else turned
        return begin, end

    @functools.cached_property
    def _turns(self) -> bool:
        """Whether a carriage returns anywhere in it."""
        return self.data.find(b"\r", 0, self.end) >= 0

    def lines(self, word: bytes) -> Iterator[tuple[int, int]]:
        """Where each line that holds a word begins and ends."""
        place = self.start
        while (place := self.data.find(word, place, self.stop)) >= 0:
            begin, end = self.line(place)
            yield begin, end
            place = end if end > place else place + 1

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

    def uncoloured(self) -> Window:
        """The same without the codes that colour a terminal; they may stand within a word."""
        if self.data.find(ESCAPE, 0, self.end) < 0:
            return self
        places = (0, self.start, self.stop, self.end)
        parts = [uncoloured(self.data[low:high]) for low, high in itertools.pairwise(places)]
        start, stop, end = itertools.accumulate(map(len, parts))
        return replace(self, data=b"".join(parts), start=start, stop=stop, end=end, exact=False)


def shown(line: bytes) -> str:
    """A line as text, without colours: UTF-8, else GBK, else what of it is ASCII."""
    line = bytes(uncoloured(line))
    for codec in ("utf-8", "gb18030"):
        try:
            return line.decode(codec).strip("\ufeff\r\n")
        except UnicodeDecodeError:
            continue
    return line.decode("utf-8", "replace").strip("\r\n")
