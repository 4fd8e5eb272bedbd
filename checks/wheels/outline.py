"""A library in a wheel without what nobody reads of it: its tables, with holes between them."""

from __future__ import annotations

import zipfile
from pathlib import Path

from checks.wheels import archive
from provision.facts.linking.elf_file import DAMAGED, ElfFile
from provision.facts.linking.elf_symbols import TABLES

_HEAD = (0, 1 << 16)  # the list of segments is nearly always there
_MOST = 2  # times the size of a file that a sound one can have in parts: some lie in others


def outline(whole: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> None:
    """Make a sparse file of a library that stands in the archive as it is, as long as it.

    To copy a gigabyte takes longer than to digest it. Where a table is another part of the file
    tells, so it is asked again until it names nothing more that is still a hole. Raises OSError
    and `archive.DAMAGED`.
    """
    there: set[tuple[int, int]] = set()
    missing = {_HEAD}
    with path.open("wb", buffering=0) as file:
        file.truncate(info.file_size)
        while missing:
            if sum(size for _, size in missing) > _MOST * info.file_size + _HEAD[1]:
                missing = {(0, info.file_size)}
            for begin, size in missing:
                file.seek(begin)
                for piece in archive.part(whole, info, begin, size):
                    file.write(piece)
            there |= missing
            missing = set() if (0, info.file_size) in there else _parts(path) - there


def _parts(path: Path) -> set[tuple[int, int]]:
    """What is read of a library, as far as it tells by now; of what is none nothing more is."""
    try:
        return ElfFile(path).parts(TABLES)
    except DAMAGED:
        return set()
