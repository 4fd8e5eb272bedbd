"""What an installed Paddle tells of its own files: no header of it names a version."""

from __future__ import annotations

import base64
import contextlib
import csv
import hashlib
import os
import zlib
from collections.abc import Iterable
from pathlib import Path

from provision.facts.proof import Proof
from provision.journal import Witness
from provision.paths import state_dir

_HEADERS = "paddle/include/"


def record(paddle: Path, release: str) -> Path | None:
    """The list of files, RECORD, of the Paddle in this folder; None where there is none."""
    found = paddle.parent.glob("paddlepaddle*.dist-info/RECORD")
    ends = f"-{release}.dist-info"
    return next((path for path in found if path.parent.name.endswith(ends)), None)


def strange_headers(paddle: Path, listed: Path) -> list[str]:
    """The headers of RECORD that are not there as it has them, by their names in it.

    Those of another release differ by the hundred, though some are the same for years. What was
    found right is not read again before one of them changes.
    """
    with listed.open(encoding="utf-8", newline="") as stream:
        rows = [row[:2] for row in csv.reader(stream) if row and row[0].startswith(_HEADERS)]
    proof = _proof(paddle, listed, [name for name, _ in rows])
    if proof.recall(bool):
        return []
    found = [name for name, digest in rows if digest and _digest(paddle.parent / name) != digest]
    if not found:
        proof.keep(True)
    return found


def _proof(paddle: Path, listed: Path, names: Iterable[str]) -> Proof:
    """The memory that these files were right, for as long as none has another size or time."""
    seen = hashlib.sha256()
    for name in names:
        with contextlib.suppress(OSError):
            one = (paddle.parent / name).stat()
            row = (name, one.st_size, one.st_mtime_ns, one.st_ctime_ns)
            seen.update(repr(row).encode("utf-8", "surrogateescape"))
    place = f"{zlib.crc32(os.fsencode(paddle)):08x}.json"
    conditions = {"paddle": str(paddle), "seen": seen.hexdigest()}
    return Proof(state_dir() / "headers" / place, conditions, [Witness.of(listed)])


def _digest(path: Path) -> str:
    """The digest of a file as RECORD writes it; "" where it cannot be read."""
    try:
        found = hashlib.sha256(path.read_bytes()).digest()
    except OSError:
        return ""
    return "sha256=" + base64.urlsafe_b64encode(found).rstrip(b"=").decode()
