"""Memory: /proc/meminfo and `free`."""

from __future__ import annotations

import re

import msgspec

from provision.facts import machine
from provision.facts.texts.section import Section

_COLUMNS = ("total", "used", "free", "shared", "buff/cache", "available")
_AMOUNT = re.compile(r"([0-9]{1,16}(?:\.[0-9]{1,3})?)([BKMGTP]?)(?:i?B?)?", re.I)
_UNITS = {"B": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_ROWS = {"mem": "Mem", "内存": "Mem", "swap": "Swap", "交换": "Swap"}


class Memory(msgspec.Struct, frozen=True):
    """Bytes. Hugepages as a count and the size of one. `fields` has all amounts in bytes.

    `printed` has those whose unit nothing tells, as printed.
    """

    kind: str
    total: int | None
    available: int | None
    swap_total: int | None
    swap_free: int | None
    hugepages_total: int | None = None
    hugepages_free: int | None = None
    hugepage_size: int | None = None
    fields: dict[str, int] = {}
    printed: dict[str, str] = {}


def meminfo(section: Section) -> Memory | None:
    """/proc/meminfo, known by its two first rows."""
    text = "\n".join(line.strip() for line in section.lines if len(line) < 100)  # noqa: PLR2004
    fields = machine.meminfo(text)
    if not {"MemTotal", "MemFree"} <= set(fields):
        return None
    counts = {name: int(number) for name, number in
              re.findall(r"^(HugePages_\w+):\s+([0-9]{1,12})$", text, re.MULTILINE)}  # fmt: skip
    return Memory(
        "/proc/meminfo", fields["MemTotal"], fields.get("MemAvailable"), fields.get("SwapTotal"),
        fields.get("SwapFree"), counts.get("HugePages_Total"), counts.get("HugePages_Free"),
        fields.get("Hugepagesize"), fields,
    )  # fmt: skip


def free(section: Section) -> Memory | None:
    """`free` with any unit. Numbers without one whose unit nothing tells are left out."""
    rows = _rows(section.lines)
    if "Mem" not in rows:
        return None
    unit = _unit(section.command, [word for row in rows.values() for word in row.values()])
    found = {name: {key: _bytes(word, unit) for key, word in row.items()}
             for name, row in rows.items()}  # fmt: skip
    memory, swap = found["Mem"], found.get("Swap", {})
    fields = {f"{name} {key}": amount for name, row in found.items()
              for key, amount in row.items() if amount is not None}  # fmt: skip
    printed = {f"{name} {key}": word for name, row in rows.items() for key, word in row.items()
               if f"{name} {key}" not in fields}  # fmt: skip
    return Memory("free", memory.get("total"), memory.get("available"), swap.get("total"),
                  swap.get("free"), fields=fields, printed=printed)  # fmt: skip


def _rows(lines: list[str]) -> dict[str, dict[str, str]]:
    """The words of the rows `Mem` and `Swap` by their headings."""
    top: list[str] = []
    rows: dict[str, dict[str, str]] = {}
    for line in lines:
        words = line.split()
        if words[:3] == ["total", "used", "free"]:
            top = words
        match = re.match(r"\s*(\w{2,6})[:：](.*)$", line)
        name = _ROWS.get(match[1].lower()) if match else None
        if top and match and name and name not in rows:
            rows[name] = dict(zip(top, match[2].split(), strict=False))
    return rows


def _unit(command: str, words: list[str]) -> int | None:
    """The unit of bare numbers in bytes: by the option, else by what they can only be."""
    option = re.match(r"free\b(?: +-\w+)*? +-\w*([bkmg])", command)
    if option:
        return int(1024 ** _UNITS[option[1].upper()])
    if re.match(r"free\b", command) and not re.search(r" -", command):
        return 1024
    numbers = [int(word) for word in words if re.fullmatch("[0-9]{1,16}", word)]
    # In bytes all are whole pages; in MB no machine has 10 TB, and in KB none has so little.
    if max(numbers, default=0) < 10_000_000:  # noqa: PLR2004
        return None
    return 1 if all(number % 4096 == 0 for number in numbers) else 1024


def _bytes(word: str, unit: int | None) -> int | None:
    """An amount in bytes; None when its unit is not known."""
    match = _AMOUNT.fullmatch(word)
    if not match:
        return None
    if match[2]:
        return int(float(match[1]) * 1024 ** _UNITS[match[2].upper()])
    return int(match[1]) * unit if unit and match[1].isdigit() else None
