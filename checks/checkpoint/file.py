"""One file of a checkpoint: what it is, and whether it is whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from checks.checkpoint import combined, pickled, safetensors, zipped
from checks.checkpoint.fault import Fault, Seen
from provision.facts import small

WEIGHTS = re.compile(
    r".*\.(safetensors|pdparams|pdopt|pdiparams|pt|pth|npz)|(pytorch_|adapter_)?model.*\.bin"
)
"""Names of files that hold tensors; other programs call other things `.bin`."""
UNFINISHED = (".incomplete", ".part", ".partial", ".tmp", ".aria2", ".crdownload", ".download")
"""And these are what programs call a file while they fetch it."""

# Instead of a large file a git repository holds this until `git lfs pull` (git-lfs docs/spec.md).
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\r?\n(?:.*\n)*?size (\d{1,18})\r?\n"
)
_HEAD = 1024  # bytes that tell what a file is


def look(path: Path) -> tuple[Seen, int | None]:
    """What a file is found to be, and its size in bytes; None where it cannot be read."""
    try:
        with small.opened(path) as stream:
            size = stream.seek(0, 2)
            stream.seek(0)
            head = stream.read(_HEAD)
            stream.seek(0)
            return _looked(path, stream, head, size), size
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Fault(name="unread", values={"reason": reason}), None


def _looked(path: Path, stream: BinaryIO, head: bytes, size: int) -> Seen:
    if not size:
        return Fault(name="nothing")
    if pointer := _POINTER.match(head):
        return Fault(name="pointer", missing=int(pointer[1]) - size)
    if not head.strip(b"\0"):
        return Fault(name="zeros")
    if reader := _reader(path.suffix, head):
        return reader(stream, size)
    return Fault(name="format", values={"format": path.suffix})


def _reader(suffix: str, head: bytes) -> Callable[[BinaryIO, int], Seen] | None:
    """By the name where it says enough, else by how the file begins; None for neither."""
    if suffix == ".safetensors":
        return safetensors.look
    if suffix == ".pdiparams":
        return combined.look
    if head.startswith(b"PK\x03\x04"):
        return zipped.look
    # PROTO opens every pickle since protocol 2; older ones begin with a dict or a mark.
    return pickled.look if head[:1] in (b"\x80", b"(", b"}") else None
