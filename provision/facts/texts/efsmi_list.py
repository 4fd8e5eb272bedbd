"""`efsmi -L`, and `efsmi -q --json-format`."""

from __future__ import annotations

import re

import msgspec

from provision.facts.texts import json_text
from provision.facts.texts.efsmi_query import Query, device
from provision.facts.texts.section import Section
from provision.facts.texts.table import headings, under

_BUS = re.compile(r"(?:[0-9a-f]{2,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)
_NONE = ("", "-", "NA", "N/A")


class Listed(msgspec.Struct, frozen=True):
    """A card of `-L`; `vendor` and `device` are its PCI ids, four hex digits each."""

    device_id: int
    serial_number: str | None
    slot: str | None
    vendor: str | None
    device: str | None
    bus_id: str | None
    cpu_affinity: str | None
    uuid: str | None


class Cards(msgspec.Struct, frozen=True):
    """`efsmi -L`."""

    kind: str
    cards: list[Listed]


def listed(section: Section) -> Cards | None:
    """`efsmi -L`, known by its headings."""
    top: list[tuple[str, int]] = []
    rows: list[dict[str, str]] = []
    for line in section.lines:
        found = headings(line, r"CPU Affinity|\S+")
        names = [name.upper() for name, _ in found]
        if names[:1] == ["DEV"] and {"SN", "BUS", "ID"} <= set(names):
            top = [(name.upper(), start) for name, start in found]
        elif top and re.match(r" *[0-9]{1,4} ", line):
            rows.append(under(top, line))
    cards = [_card(row) for row in rows if re.fullmatch("[0-9]{1,4}", row.get("DEV", ""))]
    return Cards("efsmi -L", cards) if top else None


def _card(row: dict[str, str]) -> Listed:
    """A row; what it prints as a dash is None."""
    known = {name: word for name, word in row.items() if word.upper() not in _NONE}
    ids = re.fullmatch(r"([0-9a-f]{4}):([0-9a-f]{4})", known.get("ID", "").lower())
    bus = known.get("BUS", "")
    return Listed(
        int(row["DEV"]), known.get("SN"), known.get("SLOT"), ids[1] if ids else None,
        ids[2] if ids else None, bus if _BUS.fullmatch(bus) else None,
        known.get("CPU AFFINITY"), known.get("UUID"),
    )  # fmt: skip


def as_json(section: Section) -> Query | None:
    """`efsmi -q --json-format`: amounts that it prints without a unit stay untyped."""
    for value in json_text.documents(section.lines):
        rows = json_text.array(json_text.mapping(value).get("devices"))
        found = [(row["id"], _sections(row)) for row in rows
                 if isinstance(row, dict) and isinstance(row.get("id"), int)]  # fmt: skip
        if found and all(sections for _, sections in found):
            return Query("efsmi -q", [device(*one) for one in found])
    return None


def _sections(row: dict[str, object]) -> dict[str, dict[str, str]]:
    """The sections of a card as the text has them."""
    titles = {title: json_text.mapping(fields) for title, fields in row.items()
              if title.endswith((" Info", " Mode"))}  # fmt: skip
    return {title: {name: str(value) for name, value in fields.items()}
            for title, fields in titles.items() if fields}  # fmt: skip
