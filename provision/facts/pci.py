"""Accelerators on the PCI bus, from sysfs, matched by class and ids, never by a name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from provision.document import Table, read
from provision.facts import pci_sysfs
from provision.paths import IMAGES

CLASS = "1200"  # "processing accelerator"; a NIC or a VGA of the same vendor is none


class Model(Table, frozen=True):
    """A row of `images/accelerators.toml`: what a vendor:device pair is known to be.

    `generation` is None where no source tells it; `target` is the stack for it, None where there is
    none; `boards` maps the subsystem's vendor:device to the card that carries the chip.
    """

    vendor: str
    device: str
    name: str
    source: str
    seen: str
    generation: str | None = None
    target: str | None = None
    boards: dict[str, str] = msgspec.field(default_factory=dict)


class Vendor(Table, frozen=True):
    """A vendor id whose accelerators this tool looks for; `device` is Paddle's type for them."""

    id: str
    name: str
    device: str
    source: str
    seen: str


class Catalogue(Table, frozen=True):
    """The whole of `images/accelerators.toml`."""

    vendors: list[Vendor]
    models: list[Model]


class Device(msgspec.Struct, frozen=True):
    """An accelerator on the bus. What its source does not tell is None.

    Ids are four hex digits; `device` is "" where a text tells only the vendor. `name` is None for a
    model that is not in the catalogue. Speeds are giga-transfers a second of each lane, widths are
    lanes; `max_*` is what the card itself can do. `driver` is the kernel driver that holds it.
    `physical` is the slot of the card of which this one is a virtual function, `functions` how
    many such functions it has now. A `revision` of "ff" means that the card no longer answered.
    """

    slot: str
    vendor: str
    device: str
    subsystem: str | None
    numa_node: int | None
    vendor_name: str
    name: str | None
    generation: str | None
    board: str | None
    target: str | None
    link_speed_gt: float | None = None
    link_width: int | None = None
    max_link_speed_gt: float | None = None
    max_link_width: int | None = None
    driver: str | None = None
    physical: str | None = None
    functions: int | None = None
    revision: str | None = None
    enabled: bool | None = None

    @property
    def ids(self) -> str:
        """vendor:device, as lspci prints it."""
        return f"{self.vendor}:{self.device or '????'}"


def devices(root: Path = Path("/")) -> list[Device]:
    """The accelerators of known vendors in sysfs, in the order of their slots.

    `root` is the prefix of sysfs. Without a device of class 1200 nothing else is read.
    """
    folders = sorted((root / "sys/bus/pci/devices").glob("*"))
    found = [path for path in folders if pci_sysfs.hexadecimal(path / "class", 6)[:4] == CLASS]
    if not found:
        return []
    known = catalogue()
    return [device for path in found if (device := _device(path, known))]


def catalogue() -> Catalogue:
    """The known vendors and models."""
    return read(IMAGES / "accelerators.toml", Catalogue, Vendor, Model)


def target_for(found: Iterable[Device]) -> str | None:
    """The target for these accelerators: "loopback" when there are none.

    None when it cannot be told: no target is known for any of them, or they need two.
    """
    cards = list(found)
    wanted = {card.target for card in cards if card.target}
    if not cards:
        return "loopback"
    return wanted.pop() if len(wanted) == 1 else None


def described(
    known: Catalogue, slot: str, vendor_id: str, device: str, subsystem: str | None
) -> Device | None:
    """An accelerator with what the catalogue says about it; None for a vendor not in it."""
    vendor = next((row for row in known.vendors if row.id == vendor_id), None)
    if not vendor:
        return None
    ids = (vendor_id, device)
    model = next((row for row in known.models if (row.vendor, row.device) == ids), None)
    return Device(
        slot=slot,
        vendor=vendor_id,
        device=device,
        subsystem=subsystem,
        numa_node=None,
        vendor_name=vendor.name,
        name=model.name if model else None,
        generation=model.generation if model else None,
        board=model.boards.get(subsystem or "") if model else None,
        target=model.target if model else None,
    )


def _device(path: Path, known: Catalogue) -> Device | None:
    """One device with all that sysfs tells."""
    hexadecimal, text = pci_sysfs.hexadecimal, pci_sysfs.text
    subsystem = [hexadecimal(path / f"subsystem_{part}") for part in ("vendor", "device")]
    device = described(
        known,
        path.name,
        hexadecimal(path / "vendor"),
        hexadecimal(path / "device"),
        ":".join(subsystem) if all(subsystem) else None,
    )
    if not device:
        return None
    enables = pci_sysfs.number(path / "enable")  # how often it was enabled
    return msgspec.structs.replace(
        device,
        numa_node=pci_sysfs.number(path / "numa_node"),
        link_speed_gt=pci_sysfs.speed(text(path / "current_link_speed")),
        link_width=pci_sysfs.width(text(path / "current_link_width")),
        max_link_speed_gt=pci_sysfs.speed(text(path / "max_link_speed")),
        max_link_width=pci_sysfs.width(text(path / "max_link_width")),
        driver=pci_sysfs.linked(path / "driver"),
        physical=pci_sysfs.linked(path / "physfn"),
        functions=pci_sysfs.number(path / "sriov_numvfs"),
        revision=hexadecimal(path / "revision", 2) or None,
        enabled=None if enables is None else enables > 0,
    )
