"""The most telling lines of a log, for when none of them is known."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from checks.logs.window import Window, shown

# From the surest sign of a failure to the weakest.
_KINDS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"^\s*(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Fault)(?::|$)",
        r"(?i)\bfatal\b|segmentation fault|core dumped|\bpanic\b|\bkilled\b|\baborted\b",
        r"(?i)\berror\b",
        r"(?i)\bfail(?:ed|ure)?\b|\bcannot\b",
    )
)
WORDS: Final = (
    b"Error", b"error", b"ERROR", b"Exception", b"FATAL", b"fatal", b"panic", b"Aborted",
    b"ailed", b"annot",
)  # fmt: skip
_EACH = 3  # lines from the beginning that are kept of a kind
_SHOWN = 6


class Spot(msgspec.Struct, frozen=True, order=True):
    """A line and where it stands: which log, a place in it whose line is countable, lines on."""

    log: int
    offset: int
    lines: int
    text: str

    @classmethod
    def at(cls, log: int, window: Window, begin: int, text: str) -> Spot:
        """The line that begins at `begin` in a window."""
        if window.exact:
            return cls(log, window.offset + begin - window.start, 0, text)
        return cls(log, window.offset, window.lines_to(begin), text)


class Telling:
    """Keeps the first lines of each kind, and the last one: memory stays flat on any log."""

    def __init__(self) -> None:
        self._first: list[list[Spot]] = [[] for _ in _KINDS]
        self._last: list[list[Spot]] = [[] for _ in _KINDS]

    def look(self, window: Window, log: int, words: Iterable[bytes]) -> None:
        """Take in the first lines and the last one of a window that hold each of some words."""
        taken: set[int] = set()
        for word in words:
            place = window.start
            for _ in range(_EACH):
                if (place := window.data.find(word, place, window.stop)) < 0:
                    break
                place = self._take(window, log, place, taken)
            else:
                last = window.data.rfind(word, window.start, window.stop)
                self._take(window, log, last, taken)

    def _take(self, window: Window, log: int, place: int, taken: set[int]) -> int:
        """Keep the line around a place if it is of a kind; returns where it ends.

        `taken`: where the lines of this window begin that were looked at.
        """
        begin, end = window.line(place)
        if begin not in taken:
            taken.add(begin)
            line = shown(bytes(window.data[begin:end]))
            kind = next((n for n, one in enumerate(_KINDS) if one.search(line)), None)
            if kind is not None and not self._has(kind, line):
                self._keep(kind, Spot.at(log, window, begin, line))
        return max(end, place + 1)

    def _has(self, kind: int, line: str) -> bool:
        return any(line == spot.text for spot in self._first[kind] + self._last[kind])

    def _keep(self, kind: int, spot: Spot) -> None:
        """Words are looked for one after the other, so lines do not come in their order."""
        spots = sorted([*self._first[kind], *self._last[kind], spot])
        self._first[kind], self._last[kind] = spots[:_EACH], spots[_EACH:][-1:]

    def best(self) -> list[Spot]:
        """The lines of the surest kinds, in the order of the logs."""
        ranked = [spot for pair in zip(self._first, self._last, strict=True)
                  for part in pair for spot in part]  # fmt: skip
        return sorted(ranked[:_SHOWN])
