"""A library in a wheel without what nobody reads of it: its tables, with holes between them."""

from __future__ import annotations

import os
from pathlib import Path

from provision.facts.linking import elf_symbols, elf_versions
from provision.facts.linking.elf_file import DAMAGED, ElfFile

_HEADER = 64  # bytes that every answer rests on


class Outline:
    """A sparse file, as long as a library, that is given its content in order.

    Of a gigabyte some megabytes are read, and to write it all takes longer than to digest it. Which
    parts are read only later parts tell: so the first piece is kept, and the segments where tables
    mostly are, and in the end the file itself says whether that was all.
    """

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        self._kept: set[tuple[int, int]] = set()
        self._at = 0
        path.write_bytes(b"")
        os.truncate(path, size)

    def take(self, piece: bytes) -> None:
        """Write what is kept of the next piece. Raises OSError."""
        begin, end = self._at, self._at + len(piece)
        with self._path.open("r+b") as file:
            for offset, size in self._kept or {(0, end)}:
                low, high = max(offset, begin), min(offset + size, end)
                if low < high:
                    file.seek(low)
                    file.write(memoryview(piece)[low - begin : high - begin])
        self._kept = self._kept or {(0, end)} | _parts(self._path, likely=True)
        self._at = end

    def has_all(self) -> bool:
        """Whether nothing that is read is a hole, once all was given. Raises OSError."""
        read = {(0, min(_HEADER, self._at))} | _parts(self._path, likely=False)
        return all(
            any(low <= offset and offset + size <= low + length for low, length in self._kept)
            for offset, size in read
        )


def _parts(path: Path, *, likely: bool) -> set[tuple[int, int]]:
    """(offset, size) of what is read of a library, as far as it can tell; of no library nothing.

    With `likely` also of where more is likely to be.
    """
    try:
        elf = ElfFile(path)
    except DAMAGED:
        return set()
    return elf.parts((*elf_symbols.TABLES, *elf_versions.TABLES)) | (elf.outer if likely else set())
