"""What `lspci` tells of a device beside its ids, in its own line and in those below it."""

from __future__ import annotations

import re
from typing import Any

from provision.facts import pci_sysfs
from provision.facts.texts.section import Section

_HEAD = re.compile(r"(?:Slot:\s*)?((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\b", re.I)
_LINK = r".*?\bSpeed (?P<speed>\S+)(?: \(\w+\))?, Width x(?P<width>\d+)\b"
_ID = r"\s{0,8}(?:.*\[|Vendor |Device )?([0-9a-f]{4})\]?$"
_PAIR = r"\s{0,8}(?:.*\[|Device )?([0-9a-f]{4}:[0-9a-f]{4})\]?$"
_PATTERNS = {
    name: re.compile(pattern, re.I)
    for name, pattern in {
        "revision": r"(?:.*\(rev |Rev:\s*|.*\" -r)([0-9a-f]{2})\b",
        "numa_node": r"NUMA ?Node:\s*(\d+)$",
        "driver": r"(?:Driver|Kernel driver in use):\s*(\S+)$",
        "functions": r".*\bNumber of VFs: (\d+)\b",
        "subsystem": "Subsystem:" + _PAIR,
        "subsystem_vendor": "SVendor:" + _ID,
        "subsystem_device": "SDevice:" + _ID,
        "link": "LnkSta:" + _LINK,
        "max_link": "LnkCap:" + _LINK,
    }.items()
}
Details = dict[str, re.Match[str]]


def details(section: Section) -> dict[str, Details]:
    """The details of each slot, to be given to `subsystem` and `fields`.

    An empty line ends a device.
    """
    found: dict[str, Details] = {}
    current: Details = {}
    for line in map(str.strip, section.lines):
        if head := _HEAD.match(line):
            current = found.setdefault(full_slot(head[1]), {})
        elif not line:
            current = {}
        for name, pattern in _PATTERNS.items():
            if told := pattern.match(line):
                current.setdefault(name, told)
    return found


def full_slot(slot: str) -> str:
    """A slot as sysfs names it, with a domain of at least four digits."""
    *domain, bus, function = slot.lower().split(":")
    return f"{int(domain[0] if domain else '0', 16):04x}:{bus}:{function}"


def subsystem(told: Details) -> str | None:
    """The subsystem's vendor:device; None where a name stands for one of them."""
    if pair := told.get("subsystem"):
        return pair[1].lower()
    vendor, device = told.get("subsystem_vendor"), told.get("subsystem_device")
    return f"{vendor[1]}:{device[1]}".lower() if vendor and device else None


def fields(told: Details) -> dict[str, Any]:
    """The fields of `pci.Device` that the details tell."""
    texts = {name: match[1] for name, match in told.items()}
    return {
        "numa_node": pci_sysfs.count(texts.get("numa_node", "")),
        "driver": texts.get("driver"),
        "functions": pci_sysfs.count(texts.get("functions", "")),
        "revision": texts["revision"].lower() if "revision" in texts else None,
        **_link(told.get("link"), ""),
        **_link(told.get("max_link"), "max_"),
    }


def _link(match: re.Match[str] | None, prefix: str) -> dict[str, Any]:
    """The fields of a link's speed and width."""
    if not match:
        return {}
    return {
        f"{prefix}link_speed_gt": pci_sysfs.speed(match["speed"]),
        f"{prefix}link_width": pci_sysfs.width(match["width"]),
    }
