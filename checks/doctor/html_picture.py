"""Where things stand in the picture of a machine: a box a NUMA node, in it a box a card."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from checks.doctor.html_cards import Card
from checks.doctor.html_row import link, memory
from provision.words import text

_ROW = 4  # cards beside each other
_CARD, _HIGH, _GAP, _HEAD = 230, 96, 12, 34  # the sizes of a card, of a gap, of a node's heading
_WIDE = _ROW * (_CARD + _GAP) + _GAP


class Box(msgspec.Struct, frozen=True):
    """A card at its place. `tone` is the class of its border: good, bad, dim."""

    x: int
    y: int
    tone: str
    lines: list[str]


class Node(msgspec.Struct, frozen=True):
    """A NUMA node with its cards; `y` and `high` are its frame."""

    title: str
    y: int
    high: int
    boxes: list[Box]


class Picture(msgspec.Struct, frozen=True):
    """The whole, in units of the drawing."""

    wide: int
    high: int
    card: tuple[int, int]
    nodes: list[Node]


def picture(groups: Mapping[int | None, list[Card]]) -> Picture:
    """The picture of the cards of each NUMA node."""
    nodes: list[Node] = []
    y = 0
    for number, cards in groups.items():
        rows = -(-len(cards) // _ROW)
        high = _HEAD + rows * (_HIGH + _GAP)
        boxes = [_box(card, place, y) for place, card in enumerate(cards)]
        nodes.append(Node(_title(number), y, high, boxes))
        y += high + _GAP
    return Picture(_WIDE, max(y - _GAP, 0), (_CARD, _HIGH), nodes)


def _title(number: int | None) -> str:
    if number is None:
        return text("html.numa-unknown")
    return text("html.numa-none") if number < 0 else text("html.numa", number=number)


def _box(card: Card, place: int, top: int) -> Box:
    x = _GAP + place % _ROW * (_CARD + _GAP)
    y = top + _HEAD + place // _ROW * (_HIGH + _GAP)
    return Box(x, y, _tone(card), [_cut(line) for line in _lines(card)])


def _tone(card: Card) -> str:
    """What the border says; the words in the box say the same."""
    well = card.state.well if card.state else None
    if well is False or card.narrowed or (card.device and card.device.revision == "ff"):
        return "bad"
    return "good" if well else "dim"


def _lines(card: Card) -> list[str]:
    """At most four lines: name, slot, health with temperature and power, memory or link."""
    one, state = card.device, card.state
    name = (one.name or one.ids) if one else (state.name if state else "?")
    told = [state.health or text("html.no-health")] if state else [text("html.no-state")]
    if state and state.temperature is not None:
        told.append(f"{state.temperature:g} °C")
    if state and state.power is not None:
        told.append(f"{state.power:g} W")
    return [name, card.slot, ", ".join(told), " ".join(filter(None, (memory(card), link(card))))]


def _cut(line: str) -> str:
    """A line as long as a box is wide; the table below has the whole of it."""
    most = 31
    return line if len(line) <= most else f"{line[: most - 1]}…"
