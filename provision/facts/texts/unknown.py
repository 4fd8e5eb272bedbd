"""A text that could not be read, said honestly."""

from __future__ import annotations

import msgspec


class Unknown(msgspec.Struct, frozen=True):
    """`why` is the last part of a key `read.why.*` of the catalogue of texts."""

    why: str
    kind: None = None
