"""Which of many words a piece of a log holds."""

from __future__ import annotations

import importlib
import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from checks.logs.window import RING, Window

SMALL = 1 << 16  # bytes: up to here preparing the fast search takes longer than the plain one
AHEAD = RING - 1  # windows that are searched side by side

Search = Callable[[Window], list[int]]


class Searcher:
    """Finds which words, by their numbers, each window of a log holds.

    `slow` tells afterwards whether a big log had to be searched without Hyperscan.
    """

    def __init__(self, words: Sequence[bytes]) -> None:
        self._words = words
        self._fast: list[Search] = []
        self.slow = False

    def each(self, row: Iterator[Window]) -> Iterator[tuple[Window, list[int]]]:
        """Each window with the numbers of its words, in the order of the log."""
        for window in row:
            if window.stop - window.start <= SMALL:
                yield window, plain(self._words)(window)
            else:
                self._prepare()
                yield from self._ahead(itertools.chain([window], row))

    def _prepare(self) -> None:
        """Make the fast search ready, once."""
        try:
            self._fast = self._fast or [fast(self._words) for _ in range(AHEAD)]
        except ImportError:
            self._fast, self.slow = [plain(self._words)] * AHEAD, True

    def _ahead(self, row: Iterator[Window]) -> Iterator[tuple[Window, list[int]]]:
        """Search windows side by side; none before the search that it takes its turn in is free."""
        waiting: deque[tuple[Window, Future[list[int]]]] = deque()
        with ThreadPoolExecutor(AHEAD) as pool:
            for window, look in zip(row, itertools.cycle(self._fast), strict=False):
                waiting.append((window, pool.submit(look, window)))
                if len(waiting) == AHEAD:
                    done, found = waiting.popleft()
                    yield done, found.result()
            for done, found in waiting:
                yield done, found.result()


def plain(words: Sequence[bytes]) -> Search:
    """Looks for one word after the other: nothing to prepare, right for small logs."""

    def search(window: Window) -> list[int]:
        data, start, stop = window.data, window.start, window.stop
        return [n for n, word in enumerate(words) if data.find(word, start, stop) >= 0]

    return search


def fast(words: Sequence[bytes]) -> Search:
    """Looks for all words in one pass, by Hyperscan. Raises ImportError where that is missing.

    A pass for each of two hundred words would take a hundred times as long.
    """
    hyperscan = importlib.import_module("hyperscan")
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=list(words), ids=list(range(len(words))), elements=len(words), literal=True,
        flags=hyperscan.HS_FLAG_SINGLEMATCH,  # whether, not where: one call a word at most
    )  # fmt: skip

    def search(window: Window) -> list[int]:
        found: list[int] = []
        data = memoryview(window.data)[window.start : window.stop]
        database.scan(data, match_event_handler=lambda n, *_: found.append(n))
        return sorted(set(found))

    return search
