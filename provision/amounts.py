"""Times and sizes as a person says them."""

from __future__ import annotations

MIB = 1 << 20  # bytes
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_GIB = 3  # the place of the first unit of which a tenth is worth saying
_ABSURD = 1 << 60  # bytes: more digits say no more


def duration(seconds: float) -> str:
    """A time: `0.2 s`, `41 s`, `1 min 48 s`."""
    if seconds < 1:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def size(count: int) -> str:
    """A number of bytes, not negative: `512 bytes`, `212 MiB`, `3.4 GiB`."""
    if count >= _ABSURD:
        return f"> {_ABSURD >> 50} PiB"
    unit = max(count.bit_length() - 1, 0) // 10
    shown = f"{count >> 10 * unit}" if unit < _GIB else f"{count / (1 << 10 * unit):.1f}"
    return f"{shown} {_UNITS[unit]}"
