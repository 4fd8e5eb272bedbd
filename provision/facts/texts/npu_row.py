"""The cells of `npu-smi info`: headings, and the ids, words and numbers under them."""

from __future__ import annotations

import re

from provision.facts.texts.table import Column, Value, values

HEADING = re.compile(
    r"(?P<util>NPU Util\(%\))|(?P<npu>NPU(?: ID)?)(?=\s|$)|(?P<name>Name)(?=\s|$)|"
    r"(?P<health>Health)|"
    r"(?P<power>Power\(W\))|(?P<temp>Temp\((?:°?C|℃)\))|(?P<pages>Hugepages-Usage)\S*|"
    r"(?P<device>Phy-ID|Device)|(?P<chip>Chip)(?=\s|$)|(?P<bus>Bus-Id)|(?P<aicore>AICore\(%\))|"
    r"(?P<memory>Memory(?:-Usage)?\((?:M|G)i?B\))|(?P<hbm>HBM(?:-Usage)?\((?:M|G)i?B\))|(?P<other>\S+)",
    re.IGNORECASE,
)
NONE = ("", "-", "NA", "N/A")
_PAIRS = ("pages", "memory", "hbm")
_TEXTS = ("npu", "name", "health", "chip", "device", "bus")
_WORSE = ("OK", "UNKNOWN", "Warning", "Alarm", "Critical")


def columns(row: list[str]) -> list[Column]:
    """The headings of a row."""
    found = []
    for index, cell in enumerate(row):
        for match in HEADING.finditer(cell):
            name = match.lastgroup or "other"
            factor = 1024 if "(g" in match[0].lower() else 1
            found.append(Column(name, index, match.start(), match.end(), name in _PAIRS, factor))
    return found


def texts(headings: list[Column], row: list[str]) -> dict[str, str]:
    """The ids and words of a row by heading."""
    found: dict[str, str] = {}
    for index, cell in enumerate(row):
        mine = [c for c in headings if c.cell == index and c.name in _TEXTS]
        parts = cell.split(None, len(mine) - 1) if mine else []
        if len(parts) < len(mine):  # one is missing: what is there stands under its heading
            start = len(cell) - len(cell.lstrip())
            mine = sorted(mine, key=lambda c: abs(c.start - start))
        found |= {c.name: part.strip() for c, part in zip(mine, parts, strict=False)}
    return found


def numbers(headings: list[Column], row: list[str]) -> dict[str, Value]:
    """The numbers of a row by heading."""
    found: dict[str, Value] = {}
    for index, cell in enumerate(row):
        mine = [c for c in headings if c.cell == index and c.name not in _TEXTS]
        found |= values(mine, cell) if mine else {}
    return found


def number(found: dict[str, Value], name: str) -> float | None:
    """A plain number."""
    value = found.get(name)
    return None if isinstance(value, tuple) else value


def pair(found: dict[str, Value], name: str) -> tuple[int | None, int | None]:
    """Used and total."""
    value = found.get(name)
    return value if isinstance(value, tuple) else (None, None)


def count(text: str | None) -> int | None:
    """A count as printed, None for `NA`, `-` and what is no count."""
    return int(text) if text and re.fullmatch("[0-9]{1,12}", text) else None


def worse(one: str | None, other: str | None) -> str | None:
    """The worse of two healths; of unknown words the first."""
    ranked = [word for word in (one, other) if word in _WORSE]
    return max(ranked, key=_WORSE.index) if len(ranked) > 1 else one or other
