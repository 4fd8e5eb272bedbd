"""Outputs that show the cards at other places of the bus: those are of two machines."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from provision.facts import outputs
from provision.facts.cards import device_types, same_place
from provision.facts.pci_text import from_lspci
from provision.facts.questions import Output
from provision.facts.sent import is_whole
from provision.facts.texts.efsmi import Efsmi
from provision.facts.texts.efsmi_query import Query
from provision.facts.texts.lspci import Lspci
from provision.facts.texts.npu_values import NpuInfo


def apart(every: list[Output]) -> Iterator[tuple[str, list[Output]]]:
    """For each device type the kinds that do not go together, and all outputs of these.

    The kinds read `Bus-Id: efsmi, lspci`; the vendor's tools are held to each other, too.
    """
    shown: dict[str, dict[str, set[str]]] = {}
    telling: dict[tuple[str, str], list[Output]] = {}
    for output in every:
        for kind, device, slots in _places(output):
            shown.setdefault(device, {}).setdefault(kind, set()).update(slots)
            telling.setdefault((device, kind), []).append(output)
    for device, kinds in shown.items():
        pairs = itertools.combinations(kinds, 2)
        wrong = {kind for a, b in pairs if _are_apart(kinds[a], kinds[b]) for kind in (a, b)}
        if wrong:
            names = sorted(wrong)
            yield (
                f"Bus-Id: {', '.join(names)}",
                [o for kind in names for o in telling[device, kind]],
            )


def _places(output: Output) -> Iterator[tuple[str, str, set[str]]]:
    """What a part of an output shows: its kind, the device type, where the cards of it are.

    A listing of the whole bus that has cards shows that those of other types are nowhere.
    """
    for part in outputs.parsed(output):
        if isinstance(part, Lspci):
            cards = from_lspci(output.text)
            types = device_types()
            for device in set(types.values()):
                slots = {card.slot for card in cards if types[card.vendor] == device}
                if slots or (cards and is_whole(part, output)):
                    yield part.kind, device, slots
        elif buses := {bus for bus in _buses(part) if bus}:
            yield part.kind, "npu" if isinstance(part, NpuInfo) else "gcu", buses


def _buses(part: Any) -> Iterator[str | None]:
    """The bus ids of a tool's cards."""
    if isinstance(part, NpuInfo):
        yield from (chip.bus_id for card in part.cards for chip in card.chips)
    elif isinstance(part, Efsmi):
        yield from (card.bus_id for card in part.cards)
    elif isinstance(part, Query):
        yield from (device.bus_id for device in part.devices)


def _are_apart(one: set[str], other: set[str]) -> bool:
    """Whether neither of two is a part of the other: the driver may not show all, or a container.

    Where one of them has no card, the other has none either.
    """
    return bool(one) != bool(other) or not (_within(one, other) or _within(other, one))


def _within(some: set[str], others: set[str]) -> bool:
    return all(any(same_place(one, other) for other in others) for one in some)
