"""The cards as the vendor's tool shows them at this moment: memory in use, and health."""

from __future__ import annotations

import re

import msgspec

from provision.facts.cards import well
from provision.facts.outputs import found
from provision.facts.questions import Output, ask, questions
from provision.facts.texts.efsmi_query import Device, Query
from provision.facts.texts.npu_values import Chip, NpuInfo

TOOLS = {"npu": ["npu-smi", "info"], "gcu": ["efsmi", "-q"]}
"""The question (a row of `images/questions.toml`) that tells the memory in use."""

_MIB = re.compile(r"([0-9]{1,9}) MiB")


class Card(msgspec.Struct, frozen=True):
    """A card, of two dies each one; MiB. None is what the tool does not tell.

    `well` is whether the tool calls it healthy, `health` its own word.
    """

    name: str
    used: int | None
    total: int | None
    health: str | None
    well: bool | None
    bus: str | None = None


def look(device: str) -> tuple[Card, ...] | None:
    """All cards in the order in which programs count them; None where the tool does not tell."""
    question = next(one for one in questions().commands if one.command == TOOLS.get(device))
    return cards_of(ask(question))


def cards_of(output: Output) -> tuple[Card, ...] | None:
    """The cards of an answer; None for one in a layout that is not known, or of a tool that failed.

    Where two have one bus id (shares of a card) it tells nothing.
    """
    if output.status != 0:
        return None
    for table, _ in found([output], NpuInfo):
        chips = [_npu(one.name, one.health, chip) for one in table.cards for chip in one.chips]
        return None if table.notes else _told(chips)
    for query, _ in found([output], Query):
        return _told([_gcu(one) for one in query.devices])
    return None


def _told(cards: list[Card]) -> tuple[Card, ...] | None:
    """The cards, without bus ids where these are not each one's own."""
    if len({one.bus for one in cards}) < len(cards):
        cards = [msgspec.structs.replace(one, bus=None) for one in cards]
    return tuple(cards) or None


def _gcu(one: Device) -> Card:
    """A card. What the driver reserves is neither used nor free, and no program can have it."""
    used, total = one.memory_used_mb, one.memory_total_mb
    free = _MIB.fullmatch(one.sections.get("Device Mem Info", {}).get("Free Size", ""))
    if free and total is not None:
        used = total - int(free[1])
    return Card(one.name or "", used, total, one.health, well(one.health), one.bus_id)


def _npu(name: str, health: str | None, chip: Chip) -> Card:
    """A chip; a model computes in its HBM, or where it has none in its only memory."""
    pairs = ((chip.hbm_used_mb, chip.hbm_total_mb), (chip.memory_used_mb, chip.memory_total_mb))
    used, total = next((pair for pair in pairs if pair[1]), (None, None))
    # A card that no longer answers is UNKNOWN: that too is not well.
    return Card(name, used, total, health, well(health), chip.bus_id)
