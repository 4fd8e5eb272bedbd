"""What a kernel module file says of itself (`.modinfo`), packed or not; nothing is loaded."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import shutil
from pathlib import Path
from typing import BinaryIO

from provision.facts import command, small

_FILE = 128 << 20  # bytes of a module that was packed
_SECTION = 1 << 20
_GZIP, _XZ, _ZSTD = b"\x1f\x8b", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
_SEARCH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"  # sbin is not in every user's PATH


def read(path: Path) -> dict[str, str]:
    """The fields of a module, such as `vermagic` and `version`; the first where one stands twice.

    Empty when it is none, is damaged, or cannot be unpacked. Source: the kernel's modinfo section,
    `name=value` with a NUL after each.
    """
    try:
        with small.opened(path) as stream:
            head = stream.read(len(_XZ))
            stream.seek(0)
            if head.startswith(_ZSTD):
                return _asked(path)
            return _fields(_section(_unpacked(stream, head)))
    except Exception:  # a damaged file leads the parser anywhere
        return {}


def _unpacked(stream: BinaryIO, head: bytes) -> BinaryIO:
    """The ELF file itself. Raises OSError, EOFError, LZMAError, zlib.error for a damaged one."""
    if head.startswith(_GZIP):
        return io.BytesIO(gzip.GzipFile(fileobj=stream).read(_FILE))
    if head.startswith(_XZ):
        return io.BytesIO(lzma.LZMAFile(stream).read(_FILE))
    return stream


def _section(stream: BinaryIO) -> bytes:
    """The section `.modinfo`, b"" without one. Raises anything for a damaged file."""
    from elftools.elf.elffile import ELFFile

    section = ELFFile(stream).get_section_by_name(".modinfo")
    return section.data() if section and section["sh_size"] <= _SECTION else b""


def _fields(section: bytes) -> dict[str, str]:
    """The pairs of the section."""
    found: dict[str, str] = {}
    for entry in section.split(b"\0"):
        name, equals, value = entry.decode("utf-8", "replace").partition("=")
        if equals:
            found.setdefault(name, value.strip())
    return found


def _asked(path: Path) -> dict[str, str]:
    """What `modinfo` says: it unpacks zst, which Python does only from 3.14 on."""
    program = shutil.which("modinfo", path=_SEARCH)
    if not program:
        return {}
    try:
        answer = command.run([program, path], 5)
    except OSError:
        return {}
    pairs = re.findall(r"^(\w+):[ \t]+(.*)$", answer.out, re.MULTILINE) if not answer.status else []
    return {name: value.strip() for name, value in reversed(pairs)}
