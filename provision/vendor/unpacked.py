"""Where archives are unpacked, and what is noted about them."""

from __future__ import annotations

import hashlib
from pathlib import Path


def place(archive: Path, root: Path) -> Path:
    """Where an archive is unpacked: another archive of the same name lies elsewhere."""
    status = archive.stat()
    key = f"{archive.resolve()}\0{status.st_size}\0{status.st_mtime_ns}"
    return root / hashlib.sha256(key.encode()).hexdigest()[:16]


def seal(folder: Path) -> Path:
    """The note beside an unpacked folder: the SHA-256 of its archive."""
    return folder.with_name(f"{folder.name}.sha256")
