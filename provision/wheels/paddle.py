"""What an installed Paddle tells of its own files: no header of it names a version."""

from __future__ import annotations

import base64
import csv
import hashlib
from pathlib import Path

_HEADERS = "paddle/include/"


def record(paddle: Path, release: str) -> Path | None:
    """The list of files, RECORD, of the Paddle in this folder; None where there is none."""
    found = paddle.parent.glob("paddlepaddle*.dist-info/RECORD")
    ends = f"-{release}.dist-info"
    return next((path for path in found if path.parent.name.endswith(ends)), None)


def strange_headers(paddle: Path, listed: Path) -> list[str]:
    """The headers of RECORD that are not there as it has them, by their names in it.

    Those of another release differ by the hundred, though some are the same for years.
    """
    with listed.open(encoding="utf-8", newline="") as stream:
        rows = [row[:2] for row in csv.reader(stream) if row and row[0].startswith(_HEADERS)]
    return [name for name, digest in rows if digest and _digest(paddle.parent / name) != digest]


def _digest(path: Path) -> str:
    """The digest of a file as RECORD writes it; "" where it cannot be read."""
    try:
        found = hashlib.sha256(path.read_bytes()).digest()
    except OSError:
        return ""
    return "sha256=" + base64.urlsafe_b64encode(found).rstrip(b"=").decode()
