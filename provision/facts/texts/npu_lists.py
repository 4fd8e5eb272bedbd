"""The lists of npu-smi: `info -l`, `info -m`; and its version."""

from __future__ import annotations

import re

import msgspec

from provision.facts.texts.blocks import pairs
from provision.facts.texts.npu_row import count
from provision.facts.texts.section import Section
from provision.facts.texts.table import headings, under

_COLUMNS = {"NPU ID": "npu_id", "Slot ID": "slot_id", "Chip ID": "chip_id",
            "Chip Logic ID": "logic_id", "Chip Phy-ID": "phy_id"}  # fmt: skip
_MAP = r"NPU ID|Slot ID|Chip ID|Chip Logic ID|Chip Phy-ID|Chip Name"


class Listed(msgspec.Struct):
    """A card of `info -l`."""

    npu_id: int
    chip_count: int | None
    product_name: str | None
    serial_number: str | None


class Cards(msgspec.Struct):
    """`info -l`; `total` is the count that it states."""

    kind: str
    total: int | None
    npus: list[Listed]


class Place(msgspec.Struct):
    """A row of `info -m`: the number of the device is the logical or physical id."""

    npu_id: int
    chip_id: int | None
    slot_id: int | None
    logic_id: int | None
    phy_id: int | None
    name: str | None


class Mapping(msgspec.Struct):
    """`info -m`. A controller (`Mcu`) has no logical id."""

    kind: str
    chips: list[Place]


class Version(msgspec.Struct):
    """`npu-smi -v`, the tool's own version."""

    kind: str
    tool_version: str


def listed(section: Section) -> Cards | None:
    """`info -l`, known by its total."""
    blocks = list(pairs(section.lines))
    totals = [block[key] for block in blocks for key in ("Total Count", "Card Count")
              if key in block]  # fmt: skip
    if not totals:
        return None
    npus = [
        Listed(npu, count(block.get("Chip Count")), block.get("Product Name"),
               block.get("Serial Number"))
        for block in blocks if (npu := count(block.get("NPU ID"))) is not None
    ]  # fmt: skip
    return Cards("npu-smi info -l", count(totals[0]), npus)


def mapping(section: Section) -> Mapping | None:
    """`info -m`, known by its headings."""
    top: list[tuple[str, int]] = []
    chips: list[Place] = []
    for line in section.lines:
        found = headings(line, _MAP)
        if len(found) > 2 and found[-1][0] == "Chip Name" and ":" not in line:  # noqa: PLR2004
            top = found
        elif top and (chip := _place(under(top, line))):
            chips.append(chip)
    return Mapping("npu-smi info -m", chips) if top else None


def _place(row: dict[str, str]) -> Place | None:
    """A row, None when it is none: all but the name are ids or a dash."""
    ids = {_COLUMNS[name]: word for name, word in row.items() if name in _COLUMNS}
    npu = count(ids.pop("npu_id", None))
    if npu is None or any(count(word) is None and word not in ("-", "NA") for word in ids.values()):
        return None
    others = {name: count(ids.get(name)) for name in ("chip_id", "slot_id", "logic_id", "phy_id")}
    return Place(npu, **others, name=row.get("Chip Name"))


def version(section: Section) -> Version | None:
    """`npu-smi -v`."""
    match = re.search(r"^\s*npu-smi version *: *(\S{1,60})$", section.text, re.MULTILINE)
    return Version("npu-smi -v", match[1]) if match else None
