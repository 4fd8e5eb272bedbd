"""Shared libraries as the loader sees them, read from their bytes; nothing is loaded."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from pathlib import Path

import msgspec

from provision.facts.linking import elf_symbols
from provision.facts.linking.elf_file import DAMAGED, EXECUTABLE, SHARED, ElfError, ElfFile


class Library(msgspec.Struct, frozen=True):
    """A shared library. `problem` says why it cannot be loaded here, "" when it can be read.

    `needed` are the names of the libraries it asks for; `undefined` the symbols of the asked
    prefix that others must provide (weak ones are left out: they may stay undefined).
    """

    path: str
    problem: str = ""
    needed: list[str] = []
    undefined: list[str] = []


def read(path: Path, prefix: str) -> Library:
    """The library at a path. A file that is none is no error but a problem in the answer."""
    try:
        elf = checked(ElfFile(path), platform.machine())
        symbols = [name for name in elf_symbols.undefined(elf) if name.startswith(prefix)]
        return Library(str(path), "", elf.needed, symbols)
    except (OSError, *DAMAGED) as error:
        return Library(str(path), problem(error))


def checked(elf: ElfFile, arch: str) -> ElfFile:
    """A file, once it is sure that this processor can load it. Raises ElfError."""
    if elf.arch != arch:
        raise ElfError(f"built for {elf.arch}, this machine is {arch}")
    if elf.kind not in (EXECUTABLE, SHARED):
        raise ElfError("not a shared library: an object file or a dump")
    if not elf.dynamic:
        raise ElfError("not a shared library: it has no dynamic section")
    return elf


def problem(error: Exception) -> str:
    """What an error of reading says about a library."""
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror}"
    return str(error) if isinstance(error, ElfError) else f"damaged: {error}"


def needed(path: Path) -> list[str]:
    """The libraries that a library asks for. Raises OSError and `elf_file.DAMAGED`."""
    return ElfFile(path).needed


def provided(path: Path, names: Iterable[str]) -> set[str]:
    """Those of these symbols that a library defines, looked up in its hash table.

    A library with hundreds of thousands of symbols answers in milliseconds this way. Raises
    OSError and `elf_file.DAMAGED`.
    """
    return elf_symbols.defined(ElfFile(path), elf_symbols.hashed(names))
