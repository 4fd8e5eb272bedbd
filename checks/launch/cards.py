"""The cards as the vendor's tool shows them at this moment: memory in use, and health."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from provision.facts.cards import whole_table
from provision.facts.outputs import found
from provision.facts.questions import Output, ask, questions
from provision.facts.texts.efsmi_query import Query
from provision.facts.texts.npu_values import Chip, NpuInfo

TOOLS = {"npu": ["npu-smi", "info"], "gcu": ["efsmi", "-q"]}
"""The question (a row of `images/questions.toml`) that tells the memory in use."""


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
    return cards_of([ask(question)])


def cards_of(outputs: Sequence[Output]) -> tuple[Card, ...] | None:
    """The cards of an answer; None for one in a layout that is not known, or that was cut."""
    for table, output in found(outputs, NpuInfo):
        whole = whole_table(table, output) and "stray" not in table.notes
        chips = [_npu(one.name, one.health, chip) for one in table.cards for chip in one.chips]
        return tuple(chips) if whole and chips else None
    for query, _ in found(outputs, Query):
        return tuple(
            Card(one.name or "", one.memory_used_mb, one.memory_total_mb, one.health,
                 None if one.health is None else one.health.lower() in ("true", "ok"), one.bus_id)
            for one in query.devices
        ) or None  # fmt: skip
    return None


def _npu(name: str, health: str | None, chip: Chip) -> Card:
    """A chip; a model computes in its HBM, or where it has none in its only memory."""
    pairs = ((chip.hbm_used_mb, chip.hbm_total_mb), (chip.memory_used_mb, chip.memory_total_mb))
    used, total = next((pair for pair in pairs if pair[1]), (None, None))
    # A card that no longer answers is UNKNOWN: that too is not well.
    well = None if health is None else health == "OK"
    return Card(name, used, total, health, well, chip.bus_id)
