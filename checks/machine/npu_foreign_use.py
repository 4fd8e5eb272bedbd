"""Is the cards' memory free for Paddle, or do processes hold it, listed or not?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.machine import here
from checks.machine.finding import Check, Evidence, Finding, UnreadError, known
from provision.facts import ascend_driver
from provision.facts.cards import well, whole_table
from provision.facts.snapshot import Facts
from provision.facts.texts.npu_values import Card, NpuInfo

# MB of HBM: idle cards of recorded outputs, 910 to 950, hold up to 4765 for the driver itself.
_IDLE = 8192
_SOURCE = "recorded outputs of npu-smi 21.0 to 26.0: idle cards hold up to 4765 MB of HBM"


def _run(facts: Facts) -> Finding:
    shown = ascend_driver.table(known(facts.outputs))
    if not shown:
        raise UnreadError("npu-smi info")
    table, output = shown
    rows = [(card, used, total) for card in table.cards for used, total in _memory(card)]
    evidence = [Evidence(f"NPU {card.npu_id}: HBM {used}/ {total} MB", output.source)
                for card, used, total in rows]  # fmt: skip
    whole = whole_table(table, output)
    hidden = [row for row in rows if whole and _hidden(table, *row)]
    if hidden:
        values = {"npus": _ids(row[0] for row in hidden), "used": str(hidden[0][1]),
                  "total": str(hidden[0][2])}  # fmt: skip
        case = "hidden-container" if here.in_container(facts) else "hidden"
        return Finding("warning", case, values, evidence, "fuser -v /dev/davinci*", _SOURCE)
    if heavy := [card for card, _, total in rows if _held(table, card) * 2 > total]:
        said = [Evidence(f"NPU {one.npu_id}: {one.pid} {one.name or '?'} {one.memory_mb} MB",
                         output.source) for one in table.processes]  # fmt: skip
        return Finding("warning", "taken", {"npus": _ids(heavy)}, said, "npu-smi info", _SOURCE)
    return Finding("ok", evidence=evidence[:16] or [Evidence("no HBM", output.source)])


def _memory(card: Card) -> Iterator[tuple[int, int]]:
    """Used and all HBM of a card with all its dies."""
    pairs = [(chip.hbm_used_mb, chip.hbm_total_mb) for chip in card.chips]
    if pairs and None not in [number for pair in pairs for number in pair]:
        yield sum(used or 0 for used, _ in pairs), sum(total or 0 for _, total in pairs)


def _hidden(table: NpuInfo, card: Card, used: int, total: int) -> bool:
    """Whether more is in use than the driver takes and the listed processes hold.

    Where a process tells no memory, that cannot be told. Sick cards are another check's.
    """
    own = [one for one in table.processes if one.npu_id == card.npu_id]
    if any(one.memory_mb is None for one in own):
        return False
    rest = used - _held(table, card)
    return bool(well(card.health)) and rest > _IDLE * len(card.chips) and rest <= total


def _held(table: NpuInfo, card: Card) -> int:
    return sum(one.memory_mb or 0 for one in table.processes if one.npu_id == card.npu_id)


def _ids(cards: Iterable[Card]) -> str:
    return ", ".join(str(card.npu_id) for card in cards)


CHECK = Check("npu-foreign-use", _run, needs=("npu-tool",), devices=("npu",))
