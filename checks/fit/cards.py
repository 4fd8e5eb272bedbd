"""The memory of a target's cards, and what of it a run can have."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from provision.amounts import MIB
from provision.document import Table, read
from provision.errors import PaddockError
from provision.paths import IMAGES
from provision.words import text

Amount = Annotated[int, msgspec.Meta(ge=0, le=1 << 30)]


class Card(Table, frozen=True, kw_only=True):
    """A kind of card; amounts in MiB, None for what nobody has shown.

    `ecc` is "" where nothing depends on it. `shared` is host memory: all cards of a run are in it.
    """

    name: str
    target: str
    mib: Amount
    idle_mib: Amount | None = None
    ecc: Literal["", "on", "off"] = ""
    source: str
    seen: str
    shared: bool = False

    @property
    def title(self) -> str:
        """Its name, and how its ECC is set."""
        return f"{self.name} (ECC {self.ecc})" if self.ecc else self.name


class Target(Table, frozen=True, kw_only=True):
    """What holds for all cards of a target."""

    name: str
    kernels: Literal["plain", "fused"]
    communicator_mib: Amount | None = None
    rotary_tables: Annotated[int, msgspec.Meta(ge=0, le=8)] = 2
    source: str
    seen: str


class Chip(Table, frozen=True, kw_only=True):
    """Local memory of one core, in bytes."""

    target: str
    operands: Annotated[int, msgspec.Meta(ge=1)]
    vector: Annotated[int, msgspec.Meta(ge=1)]
    products: Annotated[int, msgspec.Meta(ge=1)]
    granule: Annotated[int, msgspec.Meta(ge=1)]
    source: str
    seen: str


class Memory(Table, frozen=True):
    """`images/card_memory.toml`."""

    cards: list[Card]
    targets: list[Target]
    chips: list[Chip]


def memory() -> Memory:
    """The whole file."""
    return read(IMAGES / "card_memory.toml", Memory, Card, Target, Chip)


def target_of(known: Memory, target: str) -> Target:
    """What holds for a target. Its row is there for each target that the tool has."""
    return next(one for one in known.targets if one.name == target)


def cards_of(known: Memory, target: str, name: str, ecc: str) -> list[Card]:
    """The cards that may be meant: all of the target's where neither `name` nor `ecc` says which.

    Raises PaddockError `bad-option`.
    """
    if target == "loopback":
        for option, value in (("--card", name), ("--ecc", ecc)):
            if value:
                wanted = text("fit.wanted.no-card")
                raise PaddockError("bad-option", option=option, value=value, wanted=wanted)
        return [_host()]
    rows = [one for one in known.cards if one.target == target]
    named = [one for one in rows if not name or one.name.lower() == name.lower()]
    if not named:
        names = ", ".join(dict.fromkeys(one.name for one in rows))
        wanted = text("fit.wanted.card", names=names)
        raise PaddockError("bad-option", option="--card", value=name, wanted=wanted)
    chosen = [one for one in named if not ecc or one.ecc == ecc]
    if not chosen:
        names = ", ".join(dict.fromkeys(one.name for one in named))
        both = ", ".join(dict.fromkeys(one.name for one in known.cards if one.ecc))
        wanted = text("fit.wanted.no-ecc", names=names, both=both)
        raise PaddockError("bad-option", option="--ecc", value=ecc, wanted=wanted)
    return chosen


def _host() -> Card:
    """The memory that this machine has left, within the limit of a container.

    Raises PaddockError `memory-unread`.
    """
    from provision.facts.memory_left import memory_left

    free = memory_left()
    if free is None:
        raise PaddockError("memory-unread")
    return Card(
        name="host", target="loopback", mib=free // MIB, idle_mib=0, shared=True, seen="",
        source="/proc/meminfo, MemAvailable; the memory limit of the control group",
    )  # fmt: skip
