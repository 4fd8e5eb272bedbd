"""The SHA-256 of files."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import time
from pathlib import Path

from provision import amounts
from provision.stream import say
from provision.words import text

PACE = 5.0  # seconds of reading between two lines about it


def sha256(path: Path) -> str:
    """The digest of a file of any size, in hex digits; read once as long as it stays the same.

    Of one that takes its time, standard error hears how far it is. Raises OSError.
    """
    status = path.stat()
    return _sha256(path, status.st_size, status.st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _sha256(path: Path, size: int, mtime: int) -> str:
    value, said = hashlib.sha256(), time.monotonic()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            value.update(block)
            if time.monotonic() - said > PACE:
                said = time.monotonic()
                _tell(path, file.tell(), size)
    return value.hexdigest()


def _tell(path: Path, done: int, size: int) -> None:
    share = min(100 * done // size, 100) if size else 0
    say(sys.stderr, text("digest.reading", file=path.name, share=share, size=amounts.size(size)))


def sha256_of_folder(folder: Path) -> str:
    """One digest of all files in a folder, their names and whether they are programs."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            head = f"{path.relative_to(folder)}\0{path.stat().st_mode & 0o111}\0"
            digest.update(os.fsencode(head) + sha256(path).encode())
    return digest.hexdigest()
