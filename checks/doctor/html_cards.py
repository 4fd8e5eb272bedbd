"""The cards of a machine with what the bus and the vendors' tools say about each, for a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from provision.facts import enflame, pci
from provision.facts.cards import well
from provision.facts.outputs import found
from provision.facts.questions import Output
from provision.facts.snapshot import Facts, Unread
from provision.facts.texts.generation import full_bus
from provision.facts.texts.npu_values import Card as NpuCard
from provision.facts.texts.npu_values import Chip, NpuInfo


class State(msgspec.Struct, frozen=True):
    """What a tool says about a card or one of its chips. None is what it does not say.

    Degrees Celsius, watts, MB. `name` is the tool's own, `number` its id.
    """

    number: str
    name: str
    health: str | None = None
    temperature: float | None = None
    power: float | None = None
    used: int | None = None
    total: int | None = None

    @property
    def well(self) -> bool | None:
        """Whether the tool calls it healthy."""
        return well(self.health)


class Card(msgspec.Struct, frozen=True):
    """A card: on the bus, in a tool's answer, or both."""

    slot: str
    device: pci.Device | None
    state: State | None

    @property
    def narrowed(self) -> bool:
        """Whether its link is slower or narrower than the card itself can do."""
        one = self.device
        if one is None:
            return False
        pairs = [(one.link_speed_gt, one.max_link_speed_gt), (one.link_width, one.max_link_width)]
        return any(now is not None and most is not None and now < most for now, most in pairs)


def cards(facts: Facts) -> list[Card]:
    """All cards by their slots; those for which a tool tells no slot come last."""
    devices = [] if isinstance(facts.accelerators, Unread) else facts.accelerators
    outputs = [] if isinstance(facts.outputs, Unread) else facts.outputs
    states = dict(_states(outputs))
    on_bus = [Card(one.slot, one, states.pop(one.slot.lower(), None)) for one in devices]
    return [*on_bus, *(Card(slot, None, state) for slot, state in states.items())]


def numa(cards: list[Card]) -> Mapping[int | None, list[Card]]:
    """The cards by NUMA node, in order; None is an unknown one, -1 means that there is none."""
    nodes = {card.device.numa_node if card.device else None for card in cards}
    order = sorted(nodes, key=lambda node: (node is None, node or 0))
    return {node: [one for one in cards if (one.device.numa_node if one.device else None) == node]
            for node in order}  # fmt: skip


def _states(outputs: list[Output]) -> Iterator[tuple[str, State]]:
    """What the tools say, by slot, or by the tool's number where it tells no slot."""
    for info, _ in found(outputs, NpuInfo):
        for card in info.cards:
            yield from (_of_chip(card, chip) for chip in card.chips)
    shown = enflame.table(outputs)
    queried = {device.device_id: device for device, _ in enflame.queried(outputs)}
    for one in shown[0].cards if shown else ():
        more = queried.get(one.device_id)
        slot = full_bus(one.bus_id) if one.bus_id else f"efsmi {one.device_id}"
        yield slot, State(
            str(one.device_id), one.name, more.health if more else None, one.temperature_c,
            one.power_w, more.memory_used_mb if more else None, one.memory_total_mb,
        )  # fmt: skip


def _of_chip(card: NpuCard, chip: Chip) -> tuple[str, State]:
    """A chip; health, temperature and power are those of its card."""
    number = f"{card.npu_id}" if len(card.chips) == 1 else f"{card.npu_id}.{chip.chip_id}"
    slot = full_bus(chip.bus_id) if chip.bus_id else f"npu-smi {number}"
    memory = (chip.hbm_used_mb, chip.hbm_total_mb)
    used, total = memory if chip.hbm_total_mb else (chip.memory_used_mb, chip.memory_total_mb)
    return slot, State(
        number, card.name, card.health, card.temperature_c, card.power_w, used, total
    )
