"""A whole file of examples, read once, in the same memory whatever its size."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from checks.training_data.line import BOMS, Fault, fault_of
from provision.amounts import size
from provision.errors import PaddockError
from provision.facts import small
from provision.words import text

LONGEST = 16 << 20  # bytes of a line that is looked into; a longer one is far beyond any context
KEPT = 1000  # faults that are told with their line
_WHOLE = frozenset({"utf-16", "utf-32", "spread"})  # what is wrong with the file, not with a line


class Told(msgspec.Struct, frozen=True):
    """A line with a fault; lines count from 1."""

    line: int
    fault: str
    broken: bool
    reason: str


class File(msgspec.Struct, frozen=True, kw_only=True):
    """What a file holds. `faults` are the first KEPT, `counts` all by name.

    `longest` are the bytes of its longest line, without the line's end.
    """

    file: str
    bytes: int
    lines: int
    usable: int
    broken: int
    longest: int
    faults: list[Told]
    counts: dict[str, int]


def examine(path: Path) -> File:
    """Look at every line. Raises PaddockError `bad-data` where the file cannot be read."""
    try:
        with small.opened(path) as stream:
            return _examined(path, stream)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PaddockError("bad-data", file=small.shown(path), reason=reason) from None


def _examined(path: Path, stream: BinaryIO) -> File:
    counts: Counter[str] = Counter()
    faults: list[Told] = []
    number = broken = longest = 0
    size = stream.seek(0, 2)
    stream.seek(0)
    for number, (line, length) in enumerate(_lines(stream), 1):
        longest = max(longest, length)
        if (found := _fault(line, length, number)) is None:
            continue
        counts[found.name] += 1
        broken += found.broken
        if len(faults) < KEPT:
            reason = text(f"data.fault.{found.name}", **found.values)
            faults.append(Told(number, found.name, found.broken, reason))
        if found.name in _WHOLE:
            break
    if not number:
        counts["nothing"], broken = 1, 1
        faults.append(Told(1, "nothing", broken=True, reason=text("data.fault.nothing")))
    usable = number - sum(counts.values()) if number else 0
    return File(file=small.shown(path), bytes=size, lines=number, usable=usable, broken=broken,
                longest=longest, faults=faults, counts=dict(counts))  # fmt: skip


def _fault(line: bytes, length: int, number: int) -> Fault | None:
    """What is wrong with a line of which at most the beginning was read."""
    if number == 1:
        for mark, name in BOMS.items():
            if line.startswith(mark):
                return Fault(name)
        if line.strip() in (b"[", b"{"):
            return Fault("spread")
    if length > LONGEST:
        return Fault("long", {"size": size(length)})
    return fault_of(line)


def _lines(stream: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Each line without its end, and its length in bytes; of a long one the beginning.

    A line ends as for the trainer, which opens the file as text: at \\n, \\r\\n or \\r. In Latin-1
    each byte is one character, so the bytes come back as they were.
    """
    text = io.TextIOWrapper(stream, encoding="latin-1")
    while line := text.readline(LONGEST):
        length = len(line)
        while not line.endswith("\n") and (more := text.readline(LONGEST)):
            length += len(more)
            line = line[:16] + more[-1:]  # enough for a mark, and to see whether it has ended
        yield line.removesuffix("\n").encode("latin-1"), length - line.endswith("\n")
