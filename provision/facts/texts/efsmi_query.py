"""`efsmi -q` (with and without `-d`) and `efsmi dmon`."""

from __future__ import annotations

import re

import msgspec

from provision.facts.texts.blocks import Scalar
from provision.facts.texts.section import Section
from provision.facts.texts.table import headings, under

_SIZE = re.compile(r"([0-9]{1,12})(?:\.[0-9]+)? ?([MG])i?B")
_NUMBER = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,6})?")


class Device(msgspec.Struct):
    """A card: MB, watts, degrees Celsius. `sections` holds all that was printed, as printed.

    The names of fields changed between driver versions; the typed values take either.
    """

    device_id: int
    name: str | None
    bus_id: str | None
    driver_version: str | None
    health: str | None
    temperature_c: float | None
    power_w: float | None
    power_cap_w: float | None
    memory_total_mb: int | None
    memory_used_mb: int | None
    ecc: str | None
    sections: dict[str, dict[str, str]]


class Query(msgspec.Struct):
    """`efsmi -q`."""

    kind: str
    devices: list[Device]


class Monitor(msgspec.Struct):
    """`efsmi dmon`: a row a card and sample, by the tool's headings; `units` as it prints them."""

    kind: str
    units: dict[str, str]
    rows: list[dict[str, Scalar]]


def query(section: Section) -> Query | None:
    """`efsmi -q`, known by `DEV ID n` on a line of its own."""
    devices: list[tuple[int, dict[str, dict[str, str]]]] = []
    title = ""
    for line in section.lines:
        text = line.strip()
        key, colon, value = (part.strip() for part in text.partition(":"))
        if match := re.fullmatch(r"DEV ID *:? *([0-9]{1,4})", text):
            devices.append((int(match[1]), {}))
            title = ""
        elif devices and colon and key:
            devices[-1][1].setdefault(title, {})[key] = value
        elif devices and re.fullmatch(r"[A-Za-z][\w ()/-]{0,60}", text):
            title = text
    return Query("efsmi -q", [device(*found) for found in devices]) if devices else None


def device(number: int, sections: dict[str, dict[str, str]]) -> Device:
    """The typed values of a card, each from its own section: BARs have a `Total Size` too."""

    def of(title: str, *names: str) -> str | None:
        fields = sections.get(title, {})
        return next((fields[name] for name in names if name in fields), None)

    ecc = of("ECC Mode", "Current") or of("Device Mem Info", "Mem Ecc")
    return Device(
        number, of("Device Info", "Dev Name"), _bus(sections.get("PCIe Info", {})),
        of("Driver Info", "Ver"), of("Device Info", "Health"),
        _number(of("Temperature Info", "GCU Temp")), _number(of("Power Info", "Cur Power")),
        _number(of("Power Info", "Power Capa")),
        _size(of("Device Mem Info", "Total Size", "Mem Size")),
        _size(of("Device Mem Info", "Used Size", "Mem Usage")), ecc, sections,
    )  # fmt: skip


def _bus(fields: dict[str, str]) -> str | None:
    """The bus id, when all of its parts are printed."""
    parts = [fields.get(name, "") for name in ("Domain", "Bus", "Dev", "Func")]
    known = all(re.fullmatch("[0-9a-fA-F]{1,8}", part) for part in parts)
    return (
        f"{parts[0].zfill(4)}:{parts[1].zfill(2)}:{parts[2].zfill(2)}.{parts[3]}" if known else None
    )


def _size(text: str | None) -> int | None:
    """A size in MB."""
    match = _SIZE.fullmatch(text or "")
    return int(match[1]) * (1024 if match[2] == "G" else 1) if match else None


def _number(text: str | None) -> float | None:
    """The number before a unit."""
    match = _NUMBER.match(text or "")
    return (float(match[0]) if "." in match[0] else int(match[0])) if match else None


def monitor(section: Section) -> Monitor | None:
    """`efsmi dmon`, known by its two lines of headings."""
    top: list[tuple[str, int]] = []
    units: dict[str, str] = {}
    rows: list[dict[str, Scalar]] = []
    for line in section.lines:
        if line.lstrip().startswith("*Dev"):
            top = headings(line.replace("*", " ", 1), r"\S+")
        elif top and line.lstrip().startswith("*Idx"):
            units = under(top, line.replace("*", " ", 1))
        elif top and re.match(r" *[0-9]{1,4} ", line):
            rows.append({name: _sample(word) for name, word in under(top, line).items()})
    return Monitor("efsmi dmon", units, rows) if top else None


def _sample(word: str) -> Scalar:
    """A number, a word, or None for a dash."""
    if word.upper() in ("-", "NA", "N/A"):
        return None
    return _number(word) if _NUMBER.fullmatch(word) else word
