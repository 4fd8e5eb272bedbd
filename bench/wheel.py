"""What the audit of a wheel with a library of 1 GiB takes, and its memory.

It is held against the one thing of it that cannot be done faster: the digest that RECORD names,
of what is stored, and unpacking, of what is deflated. Each is a process that does nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import platform
import sys
import zipfile
from pathlib import Path

from bench.cost import Command, in_turn, medians, ratio
from bench.places import programs, scratch, tool
from bench.result import Result
from bench.watch import watch

N = 5
SECONDS = 1.0  # for what is stored
TIMES = {"stored": 2.0, "deflated": 1.5}
MEGABYTES = 150
_SIZE = 1 << 30  # bytes
_INFO = "paddle_custom_tiny-3.3.1.dist-info"
_LIBRARY = "paddle_custom_device/libpaddle-custom-tiny.so"

_DIGEST = """\
import hashlib, sys
digest = hashlib.sha256()
with open(sys.argv[1], "rb", buffering=0) as file:
    while piece := file.read(1 << 20):
        digest.update(piece)
"""
_INFLATE = """\
import sys, zipfile
from isal.igzip_lib import DECOMP_DEFLATE, IgzipDecompressor
info = max(zipfile.ZipFile(sys.argv[1]).infolist(), key=lambda info: info.compress_size)
unpacker = IgzipDecompressor(flag=DECOMP_DEFLATE)
with open(sys.argv[1], "rb", buffering=0) as file:
    file.seek(info.header_offset + 30 + len(info.filename))
    while not unpacker.eof:
        unpacker.decompress(file.read(1 << 19) if unpacker.needs_input else b"", 1 << 20)
"""


def wheel() -> list[Result]:
    """`paddock verify-wheel --no-import` on one library: what counts is its size."""
    with scratch() as folder:
        content = _library()
        plain = _wheel(folder / "plain", content, zipfile.ZIP_STORED)
        packed = _wheel(folder / "packed", content, zipfile.ZIP_DEFLATED)
        del content
        return [*_measured("stored", plain, _DIGEST), *_measured("deflated", packed, _INFLATE)]


def _measured(name: str, path: Path, floor: str) -> list[Result]:
    """Its time and its memory. The audit finds nothing: what it refuses it would not read."""
    command = tool("verify-wheel", str(path), "--no-import")
    least = Command([programs() / "python", "-c", floor, path])
    ours, theirs = in_turn([command, least], N)
    walls = sorted(cost.wall for cost in ours)
    times, peak = ratio(ours, theirs), watch(command).peak
    found = [Result("its seconds", walls[N // 2], " s", SECONDS, N, f"from {walls[0]:.2f} s")]
    return [
        Result(f"verify-wheel / least, {name}", times, "x", TIMES[name], N, medians(ours, theirs)),
        *(found if name == "stored" else []),
        Result("its peak memory", peak, " MB", MEGABYTES, 1, "the same wheel"),
    ]


def _library() -> bytes:
    """A real library, that of C, and then itself again and again: it packs as libraries do."""
    mapped = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines()}
    real = next(path for name in mapped if (path := Path(name)).name.startswith(("libc.", "libc-")))
    content = real.read_bytes()
    return (content * (_SIZE // len(content) + 1))[:_SIZE]


def _wheel(folder: Path, content: bytes, method: int) -> Path:
    """A sound wheel of a library."""
    folder.mkdir()
    python = "cp{}{}".format(*sys.version_info)
    tag = f"{python}-{python}-linux_{platform.machine()}"
    head = "Metadata-Version: 2.1\nName: paddle_custom_tiny\nVersion: 3.3.1\n"
    held = {
        _LIBRARY: content, f"{_INFO}/METADATA": head.encode(),
        f"{_INFO}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
    }  # fmt: skip
    rows = [f"{name},sha256={_digest(one)},{len(one)}" for name, one in held.items()]
    held[f"{_INFO}/RECORD"] = "\n".join([*rows, f"{_INFO}/RECORD,,\n"]).encode()
    path = folder / f"paddle_custom_tiny-3.3.1-{tag}.whl"
    with zipfile.ZipFile(path, "w", method) as whole:
        for name, one in held.items():
            whole.writestr(name, one)
    return path


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
