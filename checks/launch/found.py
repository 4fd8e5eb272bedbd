"""What a look before a run comes to."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class Found(msgspec.Struct):
    """Lines for the user: what is `missing` keeps the run from starting, `notes` do not."""

    missing: list[str] = []
    notes: list[str] = []


def joined(parts: Iterable[Found]) -> Found:
    """All of them as one."""
    whole = Found()
    for part in parts:
        whole.missing += part.missing
        whole.notes += part.notes
    return whole
