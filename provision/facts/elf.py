"""Shared libraries as the loader sees them, read from their bytes; nothing is loaded."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

_MAGIC = b"\x7fELF"
_MACHINES = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}


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
    from elftools.common.exceptions import ELFError

    try:
        with path.open("rb") as stream:
            return _read(path, stream, prefix)
    except OSError as error:
        return Library(str(path), f"cannot be read: {error.strerror}")
    except ELFError as error:
        return Library(str(path), f"truncated or damaged: {error}")
    except Exception as error:  # a damaged file leads the parser anywhere
        return Library(str(path), f"damaged: {type(error).__name__}: {error}")


def _read(path: Path, stream: BinaryIO, prefix: str) -> Library:
    """The library in an open file. Raises ELFError, and anything for a damaged file."""
    from elftools.elf.elffile import ELFFile

    size = path.stat().st_size
    if stream.read(len(_MAGIC)) != _MAGIC:
        return Library(str(path), f"not an ELF library ({size} bytes)")
    elf = ELFFile(stream)
    machine = _MACHINES.get(elf["e_machine"], str(elf["e_machine"]))
    if machine != platform.machine():
        return Library(str(path), f"built for {machine}, this machine is {platform.machine()}")
    segments = list(elf.iter_segments())
    end = max((part["p_offset"] + part["p_filesz"] for part in segments), default=0)
    if size < end:
        return Library(str(path), f"truncated: {size} bytes of at least {end}")
    dynamic = next((part for part in segments if part["p_type"] == "PT_DYNAMIC"), None)
    if dynamic is None:
        return Library(str(path), "not a shared library: it has no dynamic section")
    needed = [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")]
    return Library(str(path), "", needed, list(_undefined(dynamic, prefix)))


def needed(path: Path) -> list[str]:
    """The libraries that a library asks for. Raises OSError and ELFError."""
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as stream:
        dynamic = next(ELFFile(stream).iter_segments("PT_DYNAMIC"))
        return [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")]


def _undefined(dynamic: Any, prefix: str) -> Iterator[str]:
    """The undefined, not weak symbols with this prefix."""
    for symbol in dynamic.iter_symbols():
        undefined = symbol["st_shndx"] == "SHN_UNDEF"
        if undefined and symbol.name.startswith(prefix) and symbol["st_info"]["bind"] != "STB_WEAK":
            yield symbol.name


def provided(path: Path, names: Iterable[str]) -> set[str]:
    """Those of these symbols that a library defines, looked up in its hash table.

    A library with hundreds of thousands of symbols answers in milliseconds this way. Raises
    OSError and ELFError.
    """
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as stream:
        elf = ELFFile(stream)
        table = elf.get_section_by_name(".gnu.hash") or elf.get_section_by_name(".hash")
        if table is None:
            return set()
        found = {name: table.get_symbol(name) for name in names}
        return {
            name for name, symbol in found.items() if symbol and symbol["st_shndx"] != "SHN_UNDEF"
        }
