"""`df`, in any unit, English or Chinese."""

from __future__ import annotations

import re

import msgspec

from provision.facts.texts.section import Section

_HEADINGS = re.compile(
    r"^\s*(?:Filesystem|文件系统)\s+(?P<type>(?:Type|类型)\s+)?"
    r"(?P<unit>Size|容量|大小|[0-9]{0,5}[KMGTB]{0,2}-?(?:blocks|块))\s+(?:Used|已用)\s+",
    re.I,
)
_ROW = re.compile(
    r"^\s*(?P<source>\S.{0,300}?)\s+(?P<size>[0-9.]+[KMGTPE]?|-)\s+(?P<used>[0-9.]+[KMGTPE]?|-)\s+"
    r"(?P<free>-?[0-9.]+[KMGTPE]?|-)\s+(?P<percent>[0-9]{1,3}%|-)\s+(?P<mount>/.{0,400}|-)$",
    re.I,
)
_UNITS = "BKMGTPE"


class Disk(msgspec.Struct, frozen=True):
    """A file system. Bytes; those of `df -h` are as coarse as it prints them."""

    source: str
    type: str | None
    mount: str
    size: int | None
    used: int | None
    free: int | None
    used_percent: int | None


class Disks(msgspec.Struct, frozen=True):
    """`df`."""

    kind: str
    disks: list[Disk]


def parse(section: Section) -> Disks | None:
    """`df`, known by its headings. That of inodes (`-i`) counts no bytes and is none."""
    unit: int | None = None
    typed = False
    disks: list[Disk] = []
    long = ""  # a name that old versions print on a line of its own
    base = 1000 if re.match(r"df\b.* (?:-\w*H|--si)", section.command) else 1024
    for line in section.lines:
        if len(line) > 1000:  # noqa: PLR2004
            continue
        if re.match(r"\s*(?:Filesystem|文件系统)\s", line, re.I):
            match = _HEADINGS.match(line)
            unit, typed = (_unit(match["unit"]), bool(match["type"])) if match else (None, False)
        elif unit and (row := _ROW.match(f"{long} {line.strip()}" if long else line)):
            disks.append(_disk(row, unit, base, typed))
        long = line.strip() if unit and re.fullmatch(r"\s*\S{10,300}", line) else ""
    return Disks("df", disks) if disks else None


def _unit(heading: str) -> int:
    """Bytes of a bare number below `1K-blocks`, `1M-块`, or below `Size` (`-h`)."""
    match = re.match(r"([0-9]*)([KMGTB]?)[^A-Z]*(?:blocks|块)", heading, re.I)
    if not match:
        return 1
    letter = match[2].upper()
    power = _UNITS.index(letter) if letter else 0
    return int(int(match[1] or 1) * 1024**power)


def _disk(row: re.Match[str], unit: int, base: int, typed: bool) -> Disk:
    """A row; the type is the last word before the size."""
    source, _, kind = row["source"].rpartition(" ") if typed else (row["source"], "", None)
    percent = row["percent"].rstrip("%")
    size, used, free = (_bytes(row[name], unit, base) for name in ("size", "used", "free"))
    return Disk(source.strip(), kind, row["mount"], size, used, free,
                int(percent) if percent.isdigit() else None)  # fmt: skip


def _bytes(word: str, unit: int, base: int) -> int | None:
    """An amount: with a letter in units of `base`, else in those of the heading."""
    match = re.fullmatch(r"(-?[0-9]{1,18}(?:\.[0-9]{1,3})?)([KMGTPE]?)", word, re.I)
    if not match:
        return None
    if match[2]:
        return int(float(match[1]) * base ** _UNITS.index(match[2].upper()))
    return int(match[1]) * unit if "." not in match[1] else None
