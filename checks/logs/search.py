"""Which of many words a piece of a log holds."""

from __future__ import annotations

import functools
import importlib
import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from checks.logs.colours import ESCAPE, broken
from checks.logs.pieces import Piece
from checks.logs.window import Window

SMALL = 1 << 16  # bytes: up to here preparing the fast search takes longer than the plain one
THREADS = min(max(os.cpu_count() or 2, 2), 4)  # pieces that are read and searched at once
RING = THREADS + 2  # windows in memory: one that waits for a thread, one that is looked at

Found = tuple[Window, list[int]]
Search = Callable[[Window], Found]
_Look = Callable[[Window], list[int]]


class Searcher:
    """Finds which words, by their numbers, each window of a log holds.

    `slow` tells afterwards whether a big log had to be searched without Hyperscan.
    """

    def __init__(self, words: Iterable[bytes]) -> None:
        words = tuple(words)
        self._plain = plain(words)
        self._fast = functools.cache(lambda: fast(words))
        self.slow = False

    def each(self, row: Iterator[Piece]) -> Iterator[Found]:
        """Each window with the numbers of its words, in the order of the log.

        A window has no colours left that stand within one of the words.
        """
        for piece in row:
            window = piece()
            if window.stop - window.start <= SMALL:
                yield self._plain(window)
            else:
                again = functools.partial(_same, window)
                yield from _side_by_side(itertools.chain([again], row), self._search())

    def _search(self) -> Search:
        """The fast search if there is one."""
        try:
            return self._fast()
        except ImportError:
            self.slow = True
            return self._plain


def _side_by_side(row: Iterator[Piece], search: Search) -> Iterator[Found]:
    """Read and search some pieces at once; what comes of them in their order."""
    waiting: deque[Future[Found]] = deque()
    with ThreadPoolExecutor(THREADS) as pool:
        for piece in row:
            waiting.append(pool.submit(lambda piece: search(piece()), piece))
            if len(waiting) > THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _same(window: Window) -> Window:
    return window


def plain(words: Sequence[bytes]) -> Search:
    """Looks for one word after the other: nothing to prepare, right for small logs."""

    def search(window: Window) -> Found:
        window = window.uncoloured()
        data, start, stop = window.data, window.start, window.stop
        return window, [n for n, word in enumerate(words) if data.find(word, start, stop) >= 0]

    return search


def fast(words: Sequence[bytes]) -> Search:
    """Looks for all words in one pass, by Hyperscan. Raises ImportError where that is missing.

    A pass for each of two hundred words would take a hundred times as long.
    """
    look, torn, lock = _compiled(words), functools.cache(_torn), threading.Lock()

    def search(window: Window) -> Found:
        if window.data.find(ESCAPE, window.start, window.stop) >= 0:
            with lock:
                is_torn = torn(words)
            window = window.uncoloured() if is_torn(window) else window
        return window, look(window)

    return search


def _torn(words: Sequence[bytes]) -> _Look:
    """Looks for words that hold a code. Takes half a second to prepare, so not before it is due."""
    return _compiled(broken(words))


def _compiled(words: Sequence[bytes]) -> _Look:
    """One pass for all words, in any number of threads: each has a scratch space of its own."""
    hyperscan = importlib.import_module("hyperscan")
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=list(words), ids=list(range(len(words))), elements=len(words), literal=True,
        flags=hyperscan.HS_FLAG_SINGLEMATCH,  # whether, not where: one call a word at most
    )  # fmt: skip
    own = threading.local()

    def look(window: Window) -> list[int]:
        if not hasattr(own, "scratch"):
            own.scratch = hyperscan.Scratch(database)
        found: list[int] = []
        data = memoryview(window.data)[window.start : window.stop]
        database.scan(data, lambda n, *_: found.append(n), scratch=own.scratch)
        return sorted(set(found))

    return look
