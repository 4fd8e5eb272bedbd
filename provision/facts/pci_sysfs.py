"""Values of one device's folder in sysfs. What is absent or strange there is None or ""."""

from __future__ import annotations

import re
from pathlib import Path

_LARGEST = 200  # bytes: a value is one short line
_SPEED = re.compile(r"(\d{1,3}(?:\.\d)?) ?GT/s")
_WIDTHS = (1, 2, 4, 8, 12, 16, 32)  # PCI Express; a device that does not answer tells 0 or 63


def hexadecimal(file: Path, digits: int = 4) -> str:
    """An id such as `0x19e5` as lower-case digits; "" when it is not one."""
    value = text(file).lower().removeprefix("0x")
    return value if len(value) == digits and set(value) <= set("0123456789abcdef") else ""


def number(file: Path) -> int | None:
    """A count that is not negative; the kernel writes -1 for a NUMA node that it was not told."""
    return count(text(file))


def count(value: str) -> int | None:
    """Decimal digits as a number."""
    return int(value) if re.fullmatch("[0-9]{1,9}", value) else None


def speed(value: str) -> float | None:
    """Giga-transfers a second of `16.0 GT/s PCIe`; None for `Unknown`."""
    found = _SPEED.match(value)
    return float(found[1]) or None if found else None


def width(value: str) -> int | None:
    """Lanes of a link; None for a number of lanes that no link has."""
    lanes = count(value)
    return lanes if lanes in _WIDTHS else None


def linked(link: Path) -> str | None:
    """The name of what a symbolic link leads to."""
    try:
        return link.readlink().name or None
    except OSError:
        return None


def text(file: Path) -> str:
    """A small file; "" when it is absent, unreadable, or the device just went away."""
    try:
        with file.open("rb") as stream:
            return stream.read(_LARGEST).decode("ascii", "replace").strip()
    except OSError:
        return ""
