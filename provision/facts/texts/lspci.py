"""`lspci` in its forms: plain, `-nn`, `-n`, `-mm`, `-vmm`, each with or without `-D`."""

from __future__ import annotations

import functools
import re

import msgspec

from provision.facts import pci
from provision.facts.texts.section import Section

_SLOT = r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_PLAIN = re.compile(rf"^\s*(?P<slot>{_SLOT}) (?P<kind>[^\":]{{1,80}}): (?P<name>.{{1,300}})$", re.I)
_QUOTED = re.compile(
    rf"^\s*(?P<slot>{_SLOT}) \"(?P<kind>[^\"]*)\" \"(?P<vendor>[^\"]*)\" \"(?P<device>[^\"]*)\"",
    re.I,
)
_FIELD = re.compile(r"^(Slot|Class|Vendor|Device):\s*(\S.*)$")
_ID = re.compile(r"\[([0-9a-f]{4})\]\s*$", re.I)
_IDS = re.compile(
    r"\[(?P<vendor>[0-9a-f]{4}):(?P<device>[0-9a-f]{4})\]|"
    r"^(?:Device )?(?P<vendor_>[0-9a-f]{4}):(?P<device_>[0-9a-f]{4})\b",
    re.I,
)
_TAIL = re.compile(r"(?: \((?:rev [0-9a-f]{2}|prog-if [^)]{0,60})\))+(?:\s.{0,300})?$", re.I)
_NUMBER = re.compile(r"(?:(?:Vendor|Device) |^)([0-9a-f]{4})$", re.I)
_VENDORS = {"Huawei Technologies": "19e5", "Shanghai Enflame Technology": "1e36"}  # as in pci.ids


class Device(msgspec.Struct):
    """A device. Ids are four hex digits, None where the text gives a name that tells none.

    `class` is its number, or its name where only another name is printed.
    """

    slot: str
    vendor: str | None
    device: str | None
    kind: str = msgspec.field(name="class")
    accelerator: str | None


class Lspci(msgspec.Struct):
    """All devices in the text's order."""

    kind: str
    devices: list[Device]


@functools.cache
def models() -> list[pci.Model]:
    """The models of the catalogue."""
    return pci.catalogue().models


def parse(section: Section) -> Lspci | None:
    """The devices of a section; lines of details below a device are passed over."""
    found = [device for line in section.lines if (device := _line(line))]
    found += _records(section.lines)
    return Lspci("lspci", found) if found else None


def _line(line: str) -> Device | None:
    """A device on one line."""
    if quoted := _QUOTED.match(line):
        return _made(quoted["slot"], quoted["kind"], quoted["vendor"], quoted["device"])
    if not (plain := _PLAIN.match(line)):
        return None
    name = _TAIL.sub("", plain["name"]).strip()
    if ids := list(_IDS.finditer(name)):
        vendor, device = (
            ids[-1]["vendor"] or ids[-1]["vendor_"],
            ids[-1]["device"] or ids[-1]["device_"],
        )
        return _made(plain["slot"], plain["kind"], vendor, device)
    known = next((vendor for vendor in _VENDORS if name.startswith(vendor)), "")
    rest = re.sub(r"^(?:,? ?(?:Co|Ltd|Inc|Limited|Corporation)\b\.?,?)+", "", name[len(known) :])
    return _made(plain["slot"], plain["kind"], known, rest.strip() if known else "")


def _records(lines: list[str]) -> list[Device]:
    """The devices of `-vmm`: a record of fields each."""
    found: list[Device] = []
    fields: dict[str, str] = {}
    for line in [*lines, ""]:
        match = _FIELD.match(line.strip())
        if match and match[1] not in fields:
            fields[match[1]] = match[2].strip()
        elif not line.strip() or (match and match[1] == "Slot"):
            if fields.get("Class") and re.fullmatch(_SLOT, fields.get("Slot", ""), re.I):
                found.append(_made(fields["Slot"], fields["Class"], fields.get("Vendor", ""),
                                   fields.get("Device", "")))  # fmt: skip
            fields = {match[1]: match[2].strip()} if match else {}
    return found


def _made(slot: str, kind: str, vendor: str, device: str) -> Device:
    """A device from ids or names."""
    number = _class(kind)
    vendor_id = _four(vendor) or next(
        (known for name, known in _VENDORS.items() if vendor.startswith(name)), None
    )
    device_id = _four(device) or _by_name(vendor_id, device)
    is_accelerator = number == "1200"
    return Device(slot, vendor_id, device_id, number,
                  _model(vendor_id, device_id) if is_accelerator else None)  # fmt: skip


def _class(kind: str) -> str:
    """The class as its number where that is printed or known, else as printed."""
    kind = kind.strip()
    number = _four(kind.removeprefix("Class "))
    if number:
        return number
    return "1200" if re.fullmatch("(?:Processing )?accelerators?", kind, re.I) else kind


def _four(text: str) -> str | None:
    """An id: four digits alone, in brackets at the end, or after `Device`."""
    match = _ID.search(text) or _NUMBER.search(text.strip())
    return match[1].lower() if match else None


def _by_name(vendor: str | None, name: str) -> str | None:
    """The device id of a name that pci.ids gives to one device only."""
    plain = re.sub(r" ?\[[^\]]*\]$", "", name.strip())
    own = [model for model in models() if model.vendor == vendor]
    short = {model.device: model.name.removeprefix("Enflame ") for model in own}
    exact = [device for device, text in short.items() if text == plain]
    first = [device for device, text in short.items() if plain and text.split()[0] == plain]
    return next(iter(exact or (first if len(first) == 1 else [])), None)


def _model(vendor: str | None, device: str | None) -> str | None:
    """The model of an accelerator that the catalogue knows."""
    found = (model.name for model in models() if (model.vendor, model.device) == (vendor, device))
    return next(found, None)
