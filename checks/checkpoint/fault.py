"""What may be wrong with one file of a checkpoint."""

from __future__ import annotations

import msgspec


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """The sentence `checkpoint.fault.NAME`, and what fills it.

    `missing` are the bytes by which a file is too short: at least so many with `at_least`, None
    where that cannot be told, or where it is not too short. What is `harmless` is odd, but the
    checkpoint can be loaded.
    """

    name: str
    values: dict[str, str] = {}
    missing: int | None = None
    at_least: bool = False
    harmless: bool = False


class Whole(msgspec.Struct, frozen=True):
    """A file that is whole: the tensors whose names it tells, with their sizes in bytes."""

    tensors: dict[str, int] = {}


Seen = Fault | Whole
