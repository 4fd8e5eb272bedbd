"""Whether a run fits on a card, and how much would."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import msgspec

from checks.fit import memory
from checks.fit.cards import Card, Target
from checks.fit.model import Model
from checks.fit.wish import Wish, possible
from provision.amounts import MIB

MARGIN = 0.1
"""The share of the estimate that stays free: the estimate is held to 10 % of what was measured, and
the allocator's fragments come on top."""

_MOST = 1 << 20  # of a batch, and of a length that nothing else limits


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One run on one kind of card; bytes. `idle` and `communication` are None where unknown.

    `left` is what remains of the card, below zero what is missing; `tight` fits without `margin`.
    """

    card: str
    memory: int
    idle: int | None
    communication: int | None
    needed: int
    margin: int
    left: int
    verdict: Literal["fits", "tight", "no"]
    source: str


class Room(msgspec.Struct, frozen=True):
    """A model and the card that it has to fit on."""

    model: Model
    card: Card
    target: Target

    def judge(self, wish: Wish) -> Verdict:
        """The verdict on a run."""
        totals = [one.total for one in memory.parts(self.model, wish)]
        # Host memory holds the cards of all stages and of all their copies.
        needed = sum(totals) * wish.cards // wish.pp if self.card.shared else max(totals)
        idle, each = self.card.idle_mib, self.target.communicator_mib
        taken = (idle or 0) * MIB, (each or 0) * MIB * wish.groups
        margin = math.ceil(needed * MARGIN)
        left = self.card.mib * MIB - sum(taken) - needed
        return Verdict(
            card=self.card.title, memory=self.card.mib * MIB,
            idle=None if idle is None else taken[0],
            communication=taken[1] if each is not None or not wish.groups else None,
            needed=needed, margin=margin, left=left, source=self.card.source,
            verdict="fits" if left >= margin else "tight" if left >= 0 else "no",
        )  # fmt: skip

    def fits(self, wish: Wish) -> bool:
        """Whether a run can be, and fits with its margin."""
        return possible(wish, self.model) and self.judge(wish).verdict == "fits"


def largest(room: Room, wish: Wish) -> dict[str, int]:
    """The largest batch, and the largest length, that fits when all else stays; 0 for none."""
    longest = room.model.longest or _MOST
    step = wish.tp if wish.sequence_parallel else 1
    return {
        "batch": _last(lambda n: room.fits(varied(wish, batch=n)), _MOST),
        "seq": _last(lambda n: room.fits(varied(wish, seq=n * step)), longest // step) * step,
    }


def varied(wish: Wish, **values: object) -> Wish:
    """The same run with other values."""
    return msgspec.structs.replace(wish, **values)


def _last(holds: Callable[[int], bool], most: int) -> int:
    """The largest n from 1 to `most` that holds, where all smaller ones do; 0 for none."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low
