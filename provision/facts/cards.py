"""The accelerators of one device type: those on the bus, and those that the vendor's tool shows."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import msgspec

from provision.facts import pci
from provision.facts.outputs import found
from provision.facts.questions import Output
from provision.facts.texts.efsmi import Efsmi
from provision.facts.texts.npu_values import NpuInfo

# Drivers that hold a card for a virtual machine (the kernel's driver-api/vfio).
LENT = ("vfio-pci", "pci-stub")
# How the tools call a healthy card: npu-smi OK; efsmi -q True or OK (driver 1.2.4.12 and 1.4.3.4),
# and what a later one may say in their place.
WELL = ("ok", "true", "good", "healthy")
FALLEN = "ff"  # the revision of a card that no longer answers: all bits are set


def well(health: str | None) -> bool | None:
    """Whether a tool's word for a card's health is a good one; None where it says nothing."""
    return None if health is None else health.lower() in WELL


class Shown(msgspec.Struct, frozen=True):
    """What a tool lists: how many chips, their bus ids (None where one is not told), and where.

    `complete` is False for a text from which a part was left out. `ids` are the cards' own numbers.
    """

    chips: int
    buses: list[str] | None
    ids: list[int]
    complete: bool
    source: str


@functools.cache
def device_types() -> dict[str, str]:
    """Paddle's device type by PCI vendor id."""
    return {vendor.id: vendor.device for vendor in pci.catalogue().vendors}


def of_device(cards: Iterable[pci.Device], device: str) -> list[pci.Device]:
    """The cards of a device type, such as `npu`."""
    return [card for card in cards if device_types().get(card.vendor) == device]


def whole(cards: Iterable[pci.Device]) -> list[pci.Device]:
    """The cards that the driver here should show: no virtual functions, none that is lent."""
    return [card for card in cards if card.physical is None and card.driver not in LENT]


def shown(outputs: Iterable[Output], device: str) -> Shown | None:
    """What the tool of a device type lists; None where its table is not there."""
    outputs = list(outputs)
    if device == "npu":
        return next((_npu(table, output) for table, output in found(outputs, NpuInfo)), None)
    if device == "gcu":
        return next((_gcu(table, output) for table, output in found(outputs, Efsmi)), None)
    return None


def lists(one: Shown, slot: str) -> bool:
    """Whether a tool's list has the card of a slot."""
    return any(same_place(bus, slot) for bus in one.buses or ())


def same_place(one: str, other: str) -> bool:
    """Whether two bus ids are one place. Where one tells no domain (`00:25:00.0`), the rest counts.

    efsmi prints two digits before the bus, which are none.
    """
    (domain, place), (its, same) = (_split(bus.lower()) for bus in (one, other))
    return place == same and (domain == its or None in (domain, its))


def _split(bus: str) -> tuple[str | None, str]:
    """The domain without leading zeros, None where it is not told, and bus, device and function."""
    domain = bus[:-7].rstrip(":")
    return domain.lstrip("0") if len(domain) >= len("0000") else None, bus[-7:]


def whole_table(table: NpuInfo, output: Output) -> bool:
    """Whether nothing was cut off or left out: below the cards stands the table of processes."""
    return "elided" not in table.notes and "process id" in output.text.lower()


def _npu(table: NpuInfo, output: Output) -> Shown:
    chips = [chip for card in table.cards for chip in card.chips]
    buses = [chip.bus_id for chip in chips if chip.bus_id]
    return Shown(
        len(chips), buses if len(buses) == len(chips) else None,
        [card.npu_id for card in table.cards], whole_table(table, output), output.source,
    )  # fmt: skip


def _gcu(table: Efsmi, output: Output) -> Shown:
    buses = [card.bus_id for card in table.cards if card.bus_id]
    return Shown(
        len(table.cards), buses if len(buses) == len(table.cards) else None,
        [card.device_id for card in table.cards], True, output.source,
    )  # fmt: skip
