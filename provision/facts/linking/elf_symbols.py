"""Symbols of an ELF file: asked for, defined, and looked up by hash.

What a file of hundreds of thousands of symbols defines is never listed, only looked up. All of it
may raise `elf_file.DAMAGED`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping

from provision.facts.linking.elf_file import ElfError, ElfFile

_HASH, _STRTAB, _SYMTAB, _GNU_HASH = 4, 5, 6, 0x6FFFFEF5
_RELA, _RELASZ, _PLTRELSZ, _JMPREL = 7, 8, 2, 23
_BIND_NOW, _FLAGS, _FLAGS_1 = 24, 30, 0x6FFFFFFB  # each says that nothing is bound later: at all,
_NOW, _NOW_1 = 8, 1  # or by this bit
TABLES = (_HASH, _STRTAB, _SYMTAB, _GNU_HASH, _RELA)  # all that is read here
_RELOCATION = struct.Struct("<QQq")
_SYMBOL = struct.Struct("<IBBHQQ")
_WEAK = 2  # the binding of a symbol
_MANY = 10_000  # links of a chain; no real one has so many, and a damaged one must end
_NAMES = 64 << 20  # bytes of names that are listed; made-up ones may all be in one another


def hashed(names: Iterable[str]) -> dict[str, int]:
    """Names with their hashes, to look them up in many files."""
    return {name: gnu_hash(name) for name in names}


def gnu_hash(name: str) -> int:
    """The hash of a symbol's name in the GNU hash table."""
    value = 5381
    for byte in name.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


def undefined(elf: ElfFile) -> list[str]:
    """The symbols that others must provide; weak ones, which may stay undefined, are left out."""
    return list(_bounded(
        elf.string(name)
        for name, info, _, section, _, _ in _symbols(elf, _unhashed(elf))
        if name and not section and info >> 4 != _WEAK
    ))  # fmt: skip


def _bounded(names: Iterable[str]) -> Iterator[str]:
    """The names, as long as they are not too much for the memory."""
    left = _NAMES
    for name in names:
        left -= len(name)
        if left < 0:
            raise ElfError("damaged: the names of its symbols are in one another")
        yield name


def bound_late(elf: ElfFile, names: Iterable[str]) -> list[str]:
    """Those of the undefined names that the loader looks up when they are first called.

    It refuses a file at once for the others: data, addresses of functions, and all of a file that
    was linked with `-z now`.
    """
    if _is_bound_now(elf):
        return []
    at_once = set(_at_once(elf))
    last = max(at_once, default=-1) + 1
    symbols = enumerate(_symbols(elf, last))
    kept = set(_bounded(elf.string(symbol[0]) for number, symbol in symbols if number in at_once))
    return [name for name in names if name not in kept]


def _is_bound_now(elf: ElfFile) -> bool:
    """Whether everything is looked up when the file is loaded."""
    bits = ((_FLAGS, _NOW), (_FLAGS_1, _NOW_1))
    flagged = any(value & bit for kind, bit in bits for value in elf.values(kind))
    return flagged or next(elf.values(_BIND_NOW), None) is not None


def _at_once(elf: ElfFile) -> Iterator[int]:
    """The numbers of the symbols in relocations that are made when the file is loaded."""
    begin, size = elf.table(_RELA), next(elf.values(_RELASZ), 0)
    late, length = elf.table(_JMPREL) or 0, next(elf.values(_PLTRELSZ), 0)
    if begin and begin + size > len(elf.data):
        raise ElfError("damaged: its relocations are outside of the file")
    for place in range(begin or 0, (begin or 0) + size, _RELOCATION.size) if begin else ():
        if not late <= place < late + length:
            _, info, _ = _RELOCATION.unpack_from(elf.data, place)
            yield info >> 32


def defined(elf: ElfFile, wanted: Mapping[str, int]) -> set[str]:
    """Those of the wanted symbols (name -> `gnu_hash`) that a file defines."""
    table = elf.table(_GNU_HASH)
    if table is not None:
        return {name for name, value in wanted.items() if _has(elf, table, name, value)}
    if (old := elf.table(_HASH)) is not None:
        return {name for name in wanted if _has_by_old(elf, old, name)}
    every = _symbols(elf, _counted(elf))
    names = (elf.string(name) for name, _, _, section, _, _ in every if section)
    return {name for name in names if name in wanted}


def _symbols(elf: ElfFile, count: int) -> Iterator[tuple[int, int, int, int, int, int]]:
    """(name, info, other, section, value, size) of the first symbols of the table."""
    begin = elf.table(_SYMTAB)
    if begin is None:
        return iter(())
    table = memoryview(elf.data)[begin : begin + count * _SYMBOL.size]  # not copied
    if len(table) < count * _SYMBOL.size:
        raise ElfError("damaged: its symbols are outside of the file")
    return _SYMBOL.iter_unpack(table)


def _unhashed(elf: ElfFile) -> int:
    """How many symbols stand before the hashed ones; among them are all undefined ones."""
    table = elf.table(_GNU_HASH)
    if table is None:
        return _counted(elf)
    buckets, first, words = struct.unpack_from("<III", elf.data, table)
    begin = table + 16 + 8 * words
    hashed = any(elf.data[begin : begin + 4 * buckets])
    return int(first) if hashed else _counted(elf)


def _counted(elf: ElfFile) -> int:
    """How many symbols there are: the old hash table says it, else the place of the names does."""
    table = elf.table(_HASH)
    if table is not None:
        return int(struct.unpack_from("<I", elf.data, table + 4)[0])
    symbols, names = elf.table(_SYMTAB), elf.table(_STRTAB)
    between = (names or 0) - (symbols or 0)  # every linker puts the names behind the symbols
    return max(0, between // _SYMBOL.size)


def _has(elf: ElfFile, table: int, name: str, value: int) -> bool:
    """Whether a symbol is defined, by the GNU hash table: a filter, then a chain of hashes."""
    buckets, first, words, shift = struct.unpack_from("<IIII", elf.data, table)
    if not buckets or not words:
        return False
    word = struct.unpack_from("<Q", elf.data, table + 16 + 8 * (value // 64 % words))[0]
    if not (word >> value % 64 & 1 and word >> (value >> shift) % 64 & 1):
        return False
    begin = table + 16 + 8 * words
    index = struct.unpack_from("<I", elf.data, begin + 4 * (value % buckets))[0]
    chains = begin + 4 * buckets
    return index >= first and any(
        _is(elf, at, name) for at in _matches(elf, chains, index, first, value)
    )


def _has_by_old(elf: ElfFile, table: int, name: str) -> bool:
    """The same by the older hash table, where each symbol leads to the next of its bucket."""
    buckets, count = struct.unpack_from("<II", elf.data, table)
    if not buckets:
        return False
    place = table + 8 + 4 * (_old_hash(name) % buckets)
    for _ in range(min(count, _MANY)):
        at = struct.unpack_from("<I", elf.data, place)[0]
        if not at:
            return False
        if _is(elf, at, name):
            return True
        place = table + 8 + 4 * (buckets + at)
    return False


def _old_hash(name: str) -> int:
    """The hash of a symbol's name in the older table (System V ABI)."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        value = (value ^ (value >> 24 & 0xF0)) & 0x0FFFFFFF
    return value


def _matches(elf: ElfFile, chains: int, index: int, first: int, value: int) -> Iterator[int]:
    """The symbols of a chain whose hash is the wanted one, but for its lowest bit: the end mark."""
    for at in range(index, index + _MANY):
        found = struct.unpack_from("<I", elf.data, chains + 4 * (at - first))[0]
        if found | 1 == value | 1:
            yield at
        if found & 1:
            return


def _is(elf: ElfFile, at: int, name: str) -> bool:
    """Whether a symbol has this name and is defined."""
    begin = elf.table(_SYMTAB)
    if begin is None:
        return False
    symbol = _SYMBOL.unpack_from(elf.data, begin + at * _SYMBOL.size)
    return bool(symbol[3]) and elf.string(symbol[0]) == name
