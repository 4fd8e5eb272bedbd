"""The modes of a wheel's files: packing takes them from sources that somebody has checked out."""

from __future__ import annotations

import stat
import struct
import zipfile
from pathlib import Path

# An entry of an archive's table of contents. Source: APPNOTE.TXT of PKWARE, 4.3.12.
_FIXED = 46  # bytes before name, extra field and comment, whose lengths begin at:
_LENGTHS = 28
_ATTRIBUTES = 38  # four bytes, of which the upper two are the mode


def settle(wheel: Path) -> None:
    """Make all files of a wheel readable for all and writable for the owner, and nothing else.

    The same sources make the same bytes whatever umask they were checked out with.
    """
    with zipfile.ZipFile(wheel) as whole:
        place, count = whole.start_dir, len(whole.infolist())
    with wheel.open("r+b") as stream:
        for _ in range(count):
            stream.seek(place)
            entry = stream.read(_FIXED)
            (attributes,) = struct.unpack_from("<L", entry, _ATTRIBUTES)
            stream.seek(place + _ATTRIBUTES)
            stream.write(struct.pack("<L", _plain(attributes >> 16) << 16 | attributes & 0xFFFF))
            place += _FIXED + sum(struct.unpack_from("<3H", entry, _LENGTHS))


def _plain(mode: int) -> int:
    """A mode in which only who may run the file is kept."""
    return stat.S_IFMT(mode) | (0o755 if mode & 0o111 else 0o644)
