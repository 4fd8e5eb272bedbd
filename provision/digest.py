"""The SHA-256 of files."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path


def sha256(path: Path) -> str:
    """The digest of a file of any size, in hex digits; read once as long as it stays the same.

    Raises OSError.
    """
    status = path.stat()
    return _sha256(path, status.st_size, status.st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _sha256(path: Path, size: int, mtime: int) -> str:
    value = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            value.update(block)
    return value.hexdigest()
