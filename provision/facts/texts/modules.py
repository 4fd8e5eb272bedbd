"""The kernel: `lsmod`, and what the vendors' drivers wrote to its log (`dmesg`)."""

from __future__ import annotations

import re

import msgspec

from provision.facts.kernel_modules import catalogue
from provision.facts.texts.section import Section

_MODULE = re.compile(
    r"\s*(?P<name>[A-Za-z0-9_]{1,64})\s+(?P<size>[0-9]{3,10})\s+(?P<users>-?[0-9]{1,6})"
    r"(?:\s+(?P<by>[\w,\[\]-]+))?"
)
_KERNEL = re.compile(  # `[  12.345678]`, `[Mon Jan  1 00:00:00 2026]`, the journal's `HOST kernel:`
    r"\s*(?:(?:<[0-9]{1,3}>)?\[ {0,8}[0-9]{1,9}\.[0-9]{6}\]|"
    r"\[\w{3} (?:\w{3} [ 0-9][0-9]|\S{1,4} [ 0-9]?[0-9]) [0-9:]{8} [0-9]{4}\]|"
    r"(?:\w{3} [ 0-9][0-9] [0-9:]{8}|[0-9-]{10}T[0-9:.,+Z-]{8,24}) \S{1,120} kernel:|"
    # Without a time (`dmesg -t`): the form of Huawei's driver, and `DRIVER SLOT: ` of the kernel's.
    r"(?:<[0-9]{1,3}>)?(?=\[ascend\] \[\w{1,40}\] \[[A-Z]{3,8}\] \[|"
    r"[\w-]{2,40} [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]: \S))",
)
_ASKED = re.compile(r"(?:sudo +)?(?:\S*/)?(?:dmesg\b|journalctl .*(?:-k\b|--dmesg\b))")
_DRIVER = re.compile(
    r"\[(?:ascend|drv|devdrv|devmm|svm|hdc|uda|ts_drv|dms)\w*\]|\b(?:ascend|davinci|devdrv|devmm|"
    r"drv_\w+|hisi_hdc|enflame|gcu\d*|gcu_kmd|kmd_gcu)\b|19e5:d|1e36:",
    re.I,
)
_VENDORS = {  # by words that only the driver or the cards of one vendor have
    "Huawei": re.compile(r"\[ascend\]|\b(?:davinci|devdrv|hisi_hdc)\b|\[19e5:d[0-9a-f]{3}\]"),
    "Enflame": re.compile(r"\benflame\b|\[1e36:[0-9a-f]{4}\]"),
}
_MANY = 10  # lines of a kernel's log that need no driver's line to be one


class Loaded(msgspec.Struct, frozen=True):
    """A loaded module: its size in bytes, how many use it, and which modules."""

    name: str
    size: int
    users: int
    used_by: list[str]


class Modules(msgspec.Struct, frozen=True):
    """`lsmod`."""

    kind: str
    modules: list[Loaded]


class KernelLog(msgspec.Struct, frozen=True):
    """`dmesg`: the lines that the accelerators' drivers wrote, as printed."""

    kind: str
    lines: list[str]


def lsmod(section: Section) -> Modules | None:
    """`lsmod`; without its headings (`grep` was asked) only the vendors' modules are known."""
    headed = any(line.split() == ["Module", "Size", "Used", "by"] for line in section.lines)
    found = [match for line in section.lines
             if len(line) < 2000 and (match := _MODULE.fullmatch(line))  # noqa: PLR2004
             and (headed or _is_vendors(match["name"]))]  # fmt: skip
    return Modules("lsmod", [_loaded(match) for match in found]) if found else None


def _is_vendors(name: str) -> bool:
    """Whether a module is one of an accelerator's driver."""
    return any(name in row.names or name.startswith(tuple(row.prefixes)) for row in catalogue())


def _loaded(match: re.Match[str]) -> Loaded:
    """A row."""
    used_by = [name for name in (match["by"] or "").split(",") if name[:1].isalnum()]
    return Loaded(match["name"], int(match["size"]), int(match["users"]), used_by)


def dmesg(section: Section) -> KernelLog | None:
    """`dmesg` or the kernel's part of a journal, known by its command or the form of its lines."""
    asked = _ASKED.match(section.command)
    begins = [(line, match.end() if match else 0) for line in section.lines
              if (match := _KERNEL.match(line)) or asked]  # fmt: skip
    found = [line.strip() for line, end in begins if _DRIVER.search(line[end:2000])]
    told = len(begins) >= _MANY and len(begins) * 2 > len(section.lines)
    return KernelLog("dmesg", found) if found or told else None


def vendors(log: KernelLog) -> set[str]:
    """The vendors whose drivers or cards a kernel's log shows."""
    return {name for name, words in _VENDORS.items() if any(map(words.search, log.lines))}
