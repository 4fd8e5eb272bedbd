"""The cards while a program runs: the memory that it takes there, and whether they stay well."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from checks.launch import cards
from checks.launch.cards import Card
from provision.amounts import duration
from provision.words import text

# Seconds between two looks: often at first, so that a short run is seen too, later rarely.
_FIRST, _LATER = 1.0, 15.0
# MiB: what an idle card has in use moves by less from one look to the next (recorded outputs of
# npu-smi differ by up to 4 MB), and a program that has a context on it takes more.
LEAST = 32
_PATIENCE = 2.0  # seconds for a look that is on its way when the program has ended

Look = Callable[[], tuple[Card, ...] | None]


class Ill(msgspec.Struct, frozen=True):
    """A card that was well and then was not; `now` is the tool's word, "" for one that is gone."""

    card: int
    before: str
    now: str
    seconds: float


class Usage(msgspec.Struct):
    """The memory of a run's cards, by their numbers, in MiB: `before` it, and the most `during` it.

    `looks` counts the answers while it ran; without one, or without the cards in it, nothing is
    known.
    """

    before: dict[int, int] = {}
    during: dict[int, int] = {}
    looks: int = 0
    ill: list[Ill] = []

    @property
    def taken(self) -> dict[int, int]:
        """By how much each card's memory has grown, of the cards of which that is known."""
        return {card: self.during[card] - before for card, before in self.before.items()
                if card in self.during}  # fmt: skip

    @property
    def idle(self) -> list[int]:
        """The cards on which the program took no memory."""
        return [card for card, more in self.taken.items() if more < LEAST]


class _Watcher:
    """Looks again and again until it is told to stop."""

    def __init__(self, look: Look, numbers: Sequence[int], say: Callable[[str], None]) -> None:
        self.usage, self._look, self._say = Usage(), look, say
        seen = look() or ()
        self._count = len(seen)
        self._first = {one: seen[one] for one in numbers if one < len(seen)}
        self.usage.before = _used(self._first)
        self._began, self._done = time.monotonic(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; a tool that hangs is not waited for."""
        self._done.set()
        self._thread.join(_PATIENCE)

    def _run(self) -> None:
        wait = _FIRST
        while not self._done.wait(wait):
            seen = self._look()
            if not self._done.is_set() or seen:
                self._take(seen)
            wait = min(wait * 2, _LATER)

    def _take(self, seen: Sequence[Card] | None) -> None:
        """Take in an answer."""
        if seen is None:
            return
        self.usage.looks += 1
        known = {one.card for one in self.usage.ill}
        for number, first in self._first.items():
            if first.bus is None and len(seen) != self._count:
                continue  # by its place alone nobody can say which card is gone
            now = _again(first, number, seen)
            if now and now.used is not None:
                self.usage.during[number] = max(now.used, self.usage.during.get(number, 0))
            if number not in known and first.well and (now is None or now.well is False):
                self._note(Ill(number, first.health or "", now.health or "" if now else "",
                               round(time.monotonic() - self._began, 1)))  # fmt: skip

    def _note(self, ill: Ill) -> None:
        self.usage.ill = [*self.usage.ill, ill]
        self._say(text("launch.ill", card=ill.card, before=ill.before, time=duration(ill.seconds),
                       now=ill.now or text("launch.ill-gone")))  # fmt: skip


def _again(first: Card, number: int, seen: Sequence[Card]) -> Card | None:
    """A card in a later answer: by its bus, where that is told; else by its place."""
    if first.bus is None:
        return seen[number]
    return next((one for one in seen if one.bus == first.bus), None)


def _used(mine: dict[int, Card]) -> dict[int, int]:
    return {number: card.used for number, card in mine.items() if card.used is not None}


@contextlib.contextmanager
def watched(device: str, numbers: Sequence[int], say: Callable[[str], None]) -> Iterator[Usage]:
    """Watch the cards of these numbers while the body runs; what comes out grows meanwhile."""
    watcher = _Watcher(lambda: cards.look(device), numbers, say)
    try:
        yield watcher.usage
    finally:
        watcher.stop()
