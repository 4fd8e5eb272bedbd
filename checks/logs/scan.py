"""Searches logs for what the catalogue knows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec

from checks.logs.catalogue import Failure, causes, failures
from checks.logs.lines import Counted
from checks.logs.literals import words
from checks.logs.pieces import pieces
from checks.logs.search import RING, Searcher
from checks.logs.source import DAMAGED, Log
from checks.logs.telling import WORDS, Spot, Telling
from checks.logs.window import Window, shown

_HEAD = 4096  # bytes
_FEW = 0.05
# No codes of text: not the blanks, the backspace and the bell of a terminal, nor its escapes.
_CONTROLS = bytes({*range(32), 127} - {*range(7, 14), 27})
CONTEXT = 2  # lines shown above and below a find


class Find(msgspec.Struct):
    """A known failure in the logs: how many lines show it, and the first of them."""

    failure: Failure
    first: Spot
    before: list[str]
    after: list[str]
    count: int = 0


class Read(msgspec.Struct):
    """A log that was read: `problem` says why not to its end, "" when it was.

    `form` is `text`, `binary` or `empty`.
    """

    name: str
    bytes: int = 0
    problem: str = ""
    form: Literal["text", "binary", "empty"] = "empty"


class Scan:
    """One search through any number of logs; it can look for `more` words of somebody's own."""

    def __init__(self, more: Iterable[bytes] = ()) -> None:
        self.finds: dict[str, Find] = {}
        self.telling = Telling()
        self.read: list[Read] = []
        self._counted: list[Counted] = []
        self._known = list(failures().values())
        self._behind = _by_word(self._known)
        self._words = [*self._behind, *WORDS, *more]
        self._searcher = Searcher(self._words)

    def log(self, name: str) -> None:
        """Search one log. Raises PaddockError `bad-file`, `no-zstd` where it cannot be opened."""
        log, read = Log(name), Read(name)
        counted = Counted(name if log.plain else None)
        self.read.append(read)
        self._counted.append(counted)
        try:
            for window, numbers in self._searcher.each(pieces(log.stream, log.plain, RING)):
                counted.pass_by(window)
                if not read.bytes and window.until:
                    end = min(window.stop, window.start + _HEAD)
                    read.form = _form(bytes(window.data[window.start : end]))
                self._window(window, numbers)
                read.bytes = window.until
            read.problem = log.problem()
        except DAMAGED as error:
            read.problem = str(error)
        except OSError as error:  # a folder, a disk that fails
            read.problem = error.strerror or str(error)
        finally:
            log.close()

    def unread(self, name: str, reason: str) -> None:
        """Note a log that cannot be opened."""
        self.read.append(Read(name, problem=reason))
        self._counted.append(Counted(None))

    def number(self, spot: Spot) -> int:
        """The number of a line in its log."""
        return self._counted[spot.log].number(spot)

    @property
    def slow(self) -> bool:
        """Whether a big log was searched in the slow way."""
        return self._searcher.slow

    def _window(self, window: Window, numbers: Iterable[int]) -> None:
        """Look closer at the lines that hold these words."""
        held = [self._words[number] for number in numbers]
        counted: dict[str, set[int]] = defaultdict(set)
        for word, entries in self._grouped([one for one in held if one in self._behind]).items():
            self._word(window, word, entries, counted)
        if not self.finds:  # the telling lines are for when nothing is known
            telling = [one for one in held if one in WORDS]
            self.telling.look(window, len(self.read) - 1, telling)

    def _grouped(self, held: Sequence[bytes]) -> dict[bytes, list[Failure]]:
        """Which entries to try on a line that holds a word.

        Where a word stands within others, every line of theirs is a line of its own too.
        """
        groups: dict[bytes, list[Failure]] = {}
        for word in sorted(held, key=len):
            inner = next((one for one in groups if one in word), word)
            groups.setdefault(inner, []).extend(self._behind[word])
        return groups

    def _word(
        self, window: Window, word: bytes, entries: Iterable[Failure], counted: dict[str, set[int]]
    ) -> None:
        """Try the patterns behind a word on every line that holds it; the same line only once.

        `counted`: for each entry, where the lines of this window begin that show it.
        """
        shows: dict[bytes, list[Failure]] = {}
        for begin, end in window.lines(word):
            raw = bytes(window.data[begin:end])
            if raw not in shows:
                line = shown(raw)
                shows[raw] = [entry for entry in entries if entry.matches(line)]
            for entry in shows[raw]:
                if begin not in counted[entry.id]:
                    counted[entry.id].add(begin)
                    self._found(entry, window, begin, end)

    def _found(self, entry: Failure, window: Window, begin: int, end: int) -> None:
        if entry.id not in self.finds:
            line = shown(bytes(window.data[begin:end]))
            spot = Spot.at(len(self.read) - 1, window, begin, line)
            above, below = window.before(begin, CONTEXT), window.after(end, CONTEXT)
            self.finds[entry.id] = Find(entry, spot, above, below)
        self.finds[entry.id].count += 1


def _form(head: bytes) -> Literal["text", "binary"]:
    """Whether the beginning of a log is text, in whatever encoding: that has few control codes."""
    codes = len(head) - len(head.translate(None, _CONTROLS))
    return "binary" if codes > len(head) * _FEW else "text"


def _by_word(known: Iterable[Failure]) -> dict[bytes, list[Failure]]:
    """Which entries to try on a line that holds a word."""
    behind: dict[bytes, list[Failure]] = {}
    for entry in known:
        for word in words(entry.pattern):
            behind.setdefault(word.encode("ascii"), []).append(entry)
    return behind


def ordered(finds: Iterable[Find]) -> list[tuple[Find, list[Find]]]:
    """Each first cause with what follows from it, in the order in which they stand in the logs."""
    by_place = sorted(finds, key=lambda find: find.first)
    here = {find.failure.id for find in by_place}
    behind: dict[str, list[Find]] = {}
    roots = []
    for find in by_place:
        if here & causes(find.failure.id):
            behind.setdefault(_root(find.failure.id, by_place), []).append(find)
        else:
            roots.append(find)
    return [(root, behind.get(root.failure.id, [])) for root in roots]


def _root(name: str, by_place: Sequence[Find]) -> str:
    """The first entry in the logs that stands behind this one and behind which none stands."""
    here = {find.failure.id for find in by_place}
    is_root: Callable[[str], bool] = lambda one: not here & causes(one)  # noqa: E731
    return next(
        find.failure.id for find in by_place
        if find.failure.id in causes(name) and is_root(find.failure.id)
    )  # fmt: skip
