"""Accelerators on the PCI bus, from sysfs, matched by class and ids, never by a name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from provision.paths import IMAGES

_CLASS = "1200"  # "processing accelerator"; a NIC or a VGA of the same vendor is none


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of `images/accelerators.toml`: what a vendor:device pair is known to be.

    `target` is the stack for it, None where there is none; `boards` maps the subsystem's
    vendor:device to the card that carries the chip.
    """

    vendor: str
    device: str
    name: str
    generation: str
    source: str
    seen: str
    target: str | None = None
    boards: dict[str, str] = {}


class Vendor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A vendor id whose accelerators this tool looks for."""

    id: str
    name: str
    source: str
    seen: str


class Catalogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of `images/accelerators.toml`."""

    vendors: list[Vendor]
    models: list[Model]


class Device(msgspec.Struct, frozen=True):
    """An accelerator on the bus. Ids are four hex digits; what sysfs does not tell is None.

    `name` is None for a model that is not in the catalogue.
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

    @property
    def ids(self) -> str:
        """vendor:device, as lspci prints it."""
        return f"{self.vendor}:{self.device}"


def devices(root: Path = Path("/")) -> list[Device]:
    """The accelerators of known vendors, in the order of their slots.

    `root` is the prefix of sysfs. Without a device of class 1200 nothing else is read.
    """
    folders = (root / "sys/bus/pci/devices").glob("*")
    found = [path for path in sorted(folders) if _hex(path / "class", 6)[:4] == _CLASS]
    if not found:
        return []
    known = catalogue()
    vendors = {vendor.id: vendor for vendor in known.vendors}
    ids = [(path, _hex(path / "vendor"), _hex(path / "device")) for path in found]
    return [
        _device(path, vendors[vendor], device, known.models)
        for path, vendor, device in ids
        if vendor in vendors
    ]


def catalogue() -> Catalogue:
    """The known vendors and models."""
    return msgspec.toml.decode((IMAGES / "accelerators.toml").read_bytes(), type=Catalogue)


def target_for(found: Iterable[Device]) -> str | None:
    """The target for these accelerators: "loopback" when there are none.

    None when it cannot be told: no target is known for any of them, or they need two.
    """
    cards = list(found)
    wanted = {card.target for card in cards if card.target}
    if not cards:
        return "loopback"
    return wanted.pop() if len(wanted) == 1 else None


def _device(path: Path, vendor: Vendor, device: str, models: list[Model]) -> Device:
    """One device with what the catalogue says about it."""
    model = next((row for row in models if (row.vendor, row.device) == (vendor.id, device)), None)
    parts = (_hex(path / "subsystem_vendor"), _hex(path / "subsystem_device"))
    subsystem = ":".join(parts) if all(parts) else None
    return Device(
        slot=path.name,
        vendor=vendor.id,
        device=device,
        subsystem=subsystem,
        numa_node=_numa_node(path),
        vendor_name=vendor.name,
        name=model.name if model else None,
        generation=model.generation if model else None,
        board=model.boards.get(subsystem or "") if model else None,
        target=model.target if model else None,
    )


def _numa_node(path: Path) -> int | None:
    """The NUMA node; sysfs says -1 where the firmware tells none."""
    text = _read(path / "numa_node")
    return int(text) if text.isdecimal() else None


def _hex(path: Path, digits: int = 4) -> str:
    """An id such as `0x19e5` as lower-case digits; "" when it is not one."""
    text = _read(path).lower().removeprefix("0x")
    return text if len(text) == digits and set(text) <= set("0123456789abcdef") else ""


def _read(path: Path) -> str:
    """A small file of sysfs; "" when it is absent or the device just went away."""
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
