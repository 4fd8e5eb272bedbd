"""Reads logs once for two ends: the failures that are known, and what a judge looks for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from checks.judge.numbers import clock
from checks.judge.seen import Seen
from checks.judge.signs import FALLBACK, anchors
from checks.logs.catalogue import Failure
from checks.logs.scan import Find, Scan
from checks.logs.telling import Telling
from checks.logs.window import Window

WHOLE = 5_000  # lines of interest that are all read; from then on two of each window and word
_EDGE = 4096  # bytes kept of a log's beginning and end


class Watcher:
    """Takes what it sees in the windows of one log."""

    def __init__(self, log: int) -> None:
        self.seen = Seen()
        self._log = log
        self._taken = 0

    def look(self, window: Window, held: Collection[bytes]) -> None:
        """Take what stands behind the words that a window holds, in the order of the log."""
        takers = anchors()
        places = sorted(
            (place, word) for word in held if word in takers for place in self._places(window, word)
        )
        for place, word in places:
            takers[word](self.seen, window, place, self._log)
        self._taken += len(places)
        self.seen.sampled = self._taken >= WHOLE
        if FALLBACK in held:
            self.seen.fallback += window.data.count(FALLBACK, window.start, window.stop)
        self._edges(window)

    def _edges(self, window: Window) -> None:
        """Keep the outer bytes; they tell when the log begins and ends."""
        if window.stop > window.start:
            self.seen.head = self.seen.head or bytes(window.data[window.start :][:_EDGE])
            self.seen.tail = bytes(
                window.data[max(window.start, window.stop - _EDGE) : window.stop]
            )

    def _places(self, window: Window, word: bytes) -> Iterable[int]:
        """Where a word stands: everywhere, or once the log has shown many, the first and the last.

        These two are enough for the course of a run that has thousands of steps in a window.
        """
        if not self.seen.sampled:
            return _all(window, word)
        first = window.data.find(word, window.start, window.stop)
        last = window.data.rfind(word, first + 1, window.stop)
        return [place for place in (first, last) if place >= 0]


def _all(window: Window, word: bytes) -> Iterator[int]:
    place = window.start - 1
    while (place := window.data.find(word, place + 1, window.stop)) >= 0:
        yield place


class LogRead(NamedTuple):
    """One log: its name, what was seen, its known failures, and its most telling lines.

    `when`: the time of each failure's first line, in seconds within the year; None if not told.
    """

    name: str
    seen: Seen
    finds: dict[str, Find]
    telling: Telling
    when: dict[str, float | None]


class Reading(Scan):
    """A search that also watches; `logs` holds each log on its own, `finds` the first of all."""

    def __init__(self) -> None:
        super().__init__([*anchors(), FALLBACK])
        self.logs: list[LogRead] = []
        self._watcher = Watcher(0)
        self._when: dict[str, float | None] = {}

    def log(self, name: str) -> None:
        """Read one log. Raises PaddockError `bad-file`, `no-zstd` where it cannot be opened."""
        before, self.finds, self.telling = self.finds, {}, Telling()
        self._watcher = watcher = Watcher(len(self.read))
        when: dict[str, float | None] = {}
        self._when = when
        try:
            super().log(name)
            parts = (watcher.seen, self.finds, self.telling, when)
            self.logs.append(LogRead(name, *parts))
        finally:
            self.finds = _joined(before, self.finds)

    def _window(self, window: Window, numbers: Iterable[int]) -> None:
        """Look closer, for both ends."""
        numbers = list(numbers)
        super()._window(window, numbers)
        self._watcher.look(window, {self._words[number] for number in numbers})

    def _found(self, entry: Failure, window: Window, begin: int, end: int) -> None:
        """A known failure; the time of its first line is the last one up to it."""
        super()._found(entry, window, begin, end)
        if entry.id not in self._when:
            near = bytes(window.data[max(begin - _EDGE, 0) : end])
            self._when[entry.id] = clock(near) or self._watcher.seen.end


def _joined(before: dict[str, Find], more: dict[str, Find]) -> dict[str, Find]:
    """The finds of several logs: of each failure the first, and how many lines show it."""
    for name, find in more.items():
        if name in before:
            before[name].count += find.count
        else:
            before[name] = Find(find.failure, find.first, find.before, find.after, find.count)
    return before
