"""The dynamic part of one ELF file: what it asks for and what it gives, read from its bytes.

Only what the loader itself uses is read (segments, dynamic table, hash tables), since sections may
be stripped. Layouts: System V ABI; Linux Standard Base for versions; glibc for the GNU hash table.
"""

from __future__ import annotations

import itertools
import mmap
import struct
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

_MACHINES = {
    3: "i386", 21: "ppc64", 22: "s390x", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64",
    258: "loongarch64",
}  # fmt: skip
_HEADER = 64  # bytes
# What a made-up file may say of itself before it is not believed; real ones stay far below.
_SEGMENTS, _TAGS = 256, 2048
_SEGMENT = struct.Struct("<IIQQ8xQ")  # type, flags, offset, address, size in the file
_ENTRY = 56  # bytes of it, with what is not read
_LOAD, _DYNAMIC, _STACK = 1, 2, 0x6474E551
_EXECUTABLE = 1  # a segment's flag
_NEEDED, _STRTAB, _STRSZ, _SONAME, _RPATH, _RUNPATH = 1, 5, 10, 14, 15, 29
EXECUTABLE, SHARED = 2, 3  # types of files
_FLAGS_1, _PIE = 0x6FFFFFFB, 0x8000000  # a program that may lie anywhere has the type of a library
# What a damaged file raises when it is asked something.
DAMAGED = (ValueError, struct.error, IndexError, OverflowError)


class ElfError(ValueError):
    """Why a file is no library that can be loaded."""


class ElfFile:
    """A shared library or a program. Raises OSError, and ElfError when it is none or cut short.

    Only 64-bit little-endian files are read further than their machine.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            path.stat()  # raises when it is not there
            raise ElfError("cannot be read: not a regular file")
        with path.open("rb") as stream:
            if stream.read(4) != b"\x7fELF":
                raise ElfError(f"not an ELF library ({path.stat().st_size} bytes)")
            self.data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        if len(self.data) < _HEADER:
            raise ElfError(f"truncated: {len(self.data)} bytes of at least {_HEADER}")
        self.path = path
        self.arch = self._machine()
        self._segments = self._read_segments()
        self._tags = self._read_tags()

    def _machine(self) -> str:
        """The processor that it is built for, as `uname -m` names it."""
        bits, order = self.data[4], self.data[5]
        number = struct.unpack_from("<H" if order == 1 else ">H", self.data, 18)[0]
        name = _MACHINES.get(number, f"machine {number}")
        return name if (bits, order) == (2, 1) else f"{name} (not 64-bit little-endian)"

    def _headers(self) -> tuple[int, int, int]:
        """Where the list of segments begins and ends, and the size of an entry."""
        start = struct.unpack_from("<Q", self.data, 32)[0]
        size, count = struct.unpack_from("<HH", self.data, 54)
        return start, start + size * count, size

    def _read_segments(self) -> list[tuple[int, int, int, int, int]]:
        """(type, flags, offset, address, size) of each; none of a file for other machines."""
        if not self.plain:
            return []
        start, end, size = self._headers()
        found = []
        if end <= len(self.data):
            if end - start > _ENTRY * _SEGMENTS or size not in (0, _ENTRY):
                raise ElfError(f"damaged: its segments take {end - start} bytes, by {size}")
            for place in range(start, end, _ENTRY):
                found.append(_SEGMENT.unpack_from(self.data, place))
        end = max([end, *(offset + length for _, _, offset, _, length in found)])
        if end > len(self.data):
            raise ElfError(f"truncated: {len(self.data)} bytes of at least {end}")
        return found

    @property
    def kind(self) -> int:
        """Its type: an object file, a program, a shared library, a dump."""
        order = "<H" if self.data[5] == 1 else ">H"
        return int(struct.unpack_from(order, self.data, 16)[0])

    @property
    def is_for_loader(self) -> bool:
        """Whether a loader of some system takes it, as a library or as a program.

        It has nothing to do with object files, static programs and the code of accelerators.
        """
        is_known = self.arch.partition(" ")[0] in _MACHINES.values()
        return is_known and self.kind in (EXECUTABLE, SHARED) and (self.dynamic or not self.plain)

    @property
    def is_program(self) -> bool:
        """Whether it can only be started; as a library no process takes it."""
        is_pie = any(value & _PIE for value in self.values(_FLAGS_1))
        return self.kind == EXECUTABLE or is_pie

    @property
    def plain(self) -> bool:
        """Whether it is a 64-bit little-endian file, so that its tables can be read."""
        return self.data[4:6] == b"\2\1"

    def _read_tags(self) -> list[tuple[int, int]]:
        """The dynamic table, without its end; empty for a static program."""
        for kind, _, offset, _, length in self._segments:
            if kind == _DYNAMIC:
                table = self.data[offset : offset + min(length - length % 16, 16 * _TAGS)]
                pairs = struct.iter_unpack("<qQ", table)
                tags = list(itertools.takewhile(lambda tag: tag[0], pairs))
                if len(tags) == _TAGS:
                    raise ElfError(f"damaged: {_TAGS} or more entries in its dynamic table")
                return tags
        return []

    @property
    def executable_stack(self) -> bool:
        """Whether the loader makes the stack executable for it, as it does on x86_64 unless told.

        Source: glibc, DEFAULT_STACK_PERMS of each processor.
        """
        flags = [flags for kind, flags, *_ in self._segments if kind == _STACK]
        return bool(flags[0] & _EXECUTABLE) if flags else self.arch == "x86_64"

    @property
    def dynamic(self) -> bool:
        """Whether the loader has anything to do with it."""
        return bool(self._tags)

    def values(self, kind: int) -> Iterator[int]:
        """The values of the dynamic table's tags of one kind."""
        return (value for tag, value in self._tags if tag == kind)

    def table(self, kind: int) -> int | None:
        """The place in the file of a table that a tag names by address."""
        return next(map(self._place, self.values(kind)), None)

    def parts(self, tables: Iterable[int]) -> set[tuple[int, int]]:
        """(offset, size) of what is read of it: headers, dynamic table, the segments of `tables`.

        At most one segment for each table, however many the file says it has.
        """
        if not self.plain:
            return set()
        start, end, _ = self._headers()
        places = [address for kind in tables for address in itertools.islice(self.values(kind), 1)]
        found = [self._of_kind(_DYNAMIC)[:1], *(self._around(address)[:1] for address in places)]
        return {(start, end - start)} | {(one[2], one[4]) for row in found for one in row}

    @property
    def outer(self) -> set[tuple[int, int]]:
        """(offset, size) of the first and the last loaded segment.

        Linkers put tables into the first; who changes them later appends a segment for them.
        """
        loaded = self._of_kind(_LOAD)
        return {(one[2], one[4]) for one in (*loaded[:1], *loaded[-1:])}

    def _of_kind(self, kind: int) -> list[tuple[int, int, int, int, int]]:
        return [one for one in self._segments if one[0] == kind]

    def _around(self, address: int) -> list[tuple[int, int, int, int, int]]:
        """The loaded segments that have an address; the loader takes the first."""
        return [one for one in self._of_kind(_LOAD) if one[3] <= address < one[3] + one[4]]

    def _place(self, address: int) -> int:
        for _, _, offset, start, _ in self._around(address):
            return offset + address - start
        raise ElfError(f"damaged: nothing is at address {address:#x}")

    def string(self, at: int) -> str:
        """The name at a place in the table of names."""
        strings = self.table(_STRTAB)
        begin = (strings or 0) + at
        end = self.data.find(b"\0", begin)
        if strings is None or end < 0:
            raise ElfError("damaged: a name is outside of the file")
        return self.data[begin:end].decode("utf-8", "replace")

    def _names(self, kind: int) -> list[str]:
        return [self.string(value) for value in self.values(kind)]

    @cached_property
    def needed(self) -> list[str]:
        """The libraries that it asks for, in order."""
        return self._names(_NEEDED)

    @cached_property
    def soname(self) -> str:
        """The name by which others ask for it; "" when it has none."""
        return next(iter(self._names(_SONAME)), "")

    @cached_property
    def rpath(self) -> list[str]:
        """DT_RPATH as written, `$ORIGIN` and all; the loader ignores it beside a RUNPATH.

        What is empty between colons is the current folder, here `./`; an empty whole is nothing.
        """
        return self._folders(_RPATH)

    @cached_property
    def runpath(self) -> list[str]:
        """DT_RUNPATH as written, in the same form."""
        return self._folders(_RUNPATH)

    def _folders(self, tag: int) -> list[str]:
        return [part or "./" for text in self._names(tag) if text for part in text.split(":")]
