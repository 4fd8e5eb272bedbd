"""A costly finding that is remembered for as long as everything it rests on is unchanged."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from provision.files import put_whole
from provision.journal import Witness

T = TypeVar("T")


class Known(msgspec.Struct, Generic[T], frozen=True):
    """A remembered value, and when it was found (seconds since 1970)."""

    value: T
    time: float


class _Record(msgspec.Struct, Generic[T], frozen=True):
    """The file's content: the value with all that it rests on."""

    conditions: dict[str, str]
    witnesses: list[Witness]
    value: T
    time: float
    version: int = 1


class Proof:
    """A memory of one value in one file, valid for these conditions and unchanged files."""

    def __init__(
        self, path: Path, conditions: Mapping[str, str], witnesses: Sequence[Witness]
    ) -> None:
        self.path = path
        self.conditions = dict(conditions)
        self.witnesses = list(witnesses)

    def recall(self, kind: type[T]) -> Known[T] | None:
        """The value, when it still holds; None also for a file that cannot be read."""
        try:
            record = msgspec.json.decode(self.path.read_bytes(), type=_Record[kind])  # type: ignore[valid-type]
        except (OSError, msgspec.MsgspecError):
            return None
        same = record.conditions == self.conditions and record.witnesses == self.witnesses
        return Known(record.value, record.time) if same and record.version == 1 else None

    def keep(self, value: object) -> None:
        """Write the value, whole or not at all. A folder that cannot be written changes nothing."""
        record = _Record(self.conditions, self.witnesses, value, time.time())
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            put_whole(self.path, msgspec.json.encode(record))
