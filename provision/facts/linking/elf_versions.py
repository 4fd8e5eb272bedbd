"""Symbol versions of an ELF file, and which std::string it uses.

All of it may raise `elf_file.DAMAGED`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from provision.facts.linking.elf_file import ElfFile

_STRTAB, _STRSZ, _VERDEF, _VERNEED = 5, 10, 0x6FFFFFFC, 0x6FFFFFFE
TABLES = (_STRTAB, _VERDEF, _VERNEED)  # all that is read here
_WEAK = 2  # the flag of a version that may be missing
_BASE = 1  # the flag of the version that only names the library
_MANY = 1000  # links of a chain; no real one has so many, and a damaged one must end
_MOST = 64 << 20  # bytes of names that are looked through

_NEW = re.compile(rb"St7__cxx11|B5cxx11")
# A member of the old std::string (`Ss`), or a parameter of that type.
_OLD = re.compile(rb"_ZNK?Ss\d|_ZNK?Ss[CD]|RKSs(?![a-z])")


class Version(NamedTuple):
    """A symbol version, such as GLIBCXX_3.4.30, that is wanted of a library."""

    library: str
    name: str


def wanted_versions(elf: ElfFile) -> list[Version]:
    """The versions without which the loader refuses a file, from .gnu.version_r."""
    found = []
    for place, (_, count, library, names, _) in _chain(elf, elf.table(_VERNEED), "<HHIII"):
        for _, (_, flags, _, name, _) in _chain(elf, place + names, "<IHHII", count):
            if not flags & _WEAK:
                found.append(Version(elf.string(library), elf.string(name)))
    return found


def defined_versions(elf: ElfFile) -> list[str]:
    """The versions that a library defines, from .gnu.version_d; none where it has no versions."""
    found = []
    for place, (_, flags, _, _, _, names, _) in _chain(elf, elf.table(_VERDEF), "<HHHHIII"):
        if not flags & _BASE:
            found.append(elf.string(struct.unpack_from("<I", elf.data, place + names)[0]))
    return found


def highest(kind: str, versions: Iterable[str]) -> str | None:
    """The highest version of a kind (GLIBC, GLIBCXX, CXXABI) without its name; None for none."""
    matches = [re.fullmatch(rf"{kind}_(\d+(?:\.\d+)+)", text) for text in versions]
    numbers = [match[1] for match in matches if match]
    return max(numbers, key=lambda text: [int(part) for part in text.split(".")], default=None)


def cxx11_abi(elf: ElfFile, names: list[str]) -> bool | None:
    """Whether std::string of the C++11 ABI is used: in these names, else in all of the file's.

    None where neither std::string or both occur, so that it cannot be told.
    """
    found = _abis("\0".join(names).encode()) or _abis(_strings(elf))
    return found.pop() if len(found) == 1 else None


def _abis(text: bytes | memoryview) -> set[bool]:
    """Which of the two kinds of std::string occur in mangled names: True is that of C++11."""
    return {new for new, pattern in ((True, _NEW), (False, _OLD)) if pattern.search(text)}


def _strings(elf: ElfFile) -> memoryview:
    """The table of names, not copied."""
    begin, size = elf.table(_STRTAB), next(elf.values(_STRSZ), 0)
    return memoryview(elf.data)[begin or 0 :][: min(size, _MOST) if begin is not None else 0]


def _chain(
    elf: ElfFile, begin: int | None, layout: str, count: int = _MANY
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(place, fields) of the entries of a list in which the last field leads to the next entry."""
    for _ in range(min(count, _MANY) if begin is not None else 0):
        fields = struct.unpack_from(layout, elf.data, begin or 0)
        yield begin or 0, fields
        if not fields[-1]:
            return
        begin = (begin or 0) + fields[-1]
