"""Where the dynamic loader looks by itself: ldconfig's cache and the default folders."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

_MAGIC = b"glibc-ld.so.cache1.1"
_HEADER = 48  # bytes
_ENTRY = struct.Struct("<iIIIQ")  # flags, name, path, lowest system, processor features
_LARGEST = 32 << 20  # bytes; a real cache has some hundred KiB
_DEPTH = 4  # of files that include each other


def read(root: Path) -> dict[str, list[Path]]:
    """Name -> paths in `etc/ld.so.cache`, first the preferred one; empty without a readable cache.

    Without it the loader looks only into the default folders, whatever /etc/ld.so.conf says.
    Entries for special processor features are left out. Layout: glibc, sysdeps/generic/dl-cache.h.
    """
    try:
        with (root / "etc/ld.so.cache").open("rb") as stream:
            data = stream.read(_LARGEST)
        return _read(data[data.index(_MAGIC) :], root)
    except (OSError, ValueError, struct.error):
        return {}


def _read(data: bytes, root: Path) -> dict[str, list[Path]]:
    """The entries of a cache. Raises ValueError and struct.error for a damaged one."""
    count = struct.unpack_from("<I", data, len(_MAGIC))[0]
    found: dict[str, list[Path]] = {}
    for _, name, path, _, features in _ENTRY.iter_unpack(data[_HEADER:][: count * _ENTRY.size]):
        if not features:
            found.setdefault(_string(data, name), []).append(root / _string(data, path)[1:])
    return found


def _string(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("utf-8", "replace")


def defaults(root: Path, arch: str) -> list[Path]:
    """The folders built into the loader, of Debian's layout and of the plain one."""
    triple = f"{arch}-linux-gnu"
    names = (f"lib/{triple}", f"usr/lib/{triple}", "lib64", "usr/lib64", "lib", "usr/lib")
    return [root / name for name in names]


def configured(root: Path) -> list[Path]:
    """The folders that /etc/ld.so.conf names; in force only once ldconfig has run."""
    return list(_configured(root / "etc/ld.so.conf", root, _DEPTH))


def _configured(path: Path, root: Path, depth: int) -> Iterator[Path]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words[:1] == ["include"] and depth:
            for pattern in words[1:]:
                base = root if pattern.startswith("/") else path.parent
                for name in sorted(base.glob(pattern.lstrip("/"))):
                    yield from _configured(name, root, depth - 1)
        elif len(words) == 1:
            yield root / words[0].lstrip("/")
