"""What the audit of a wheel with a library of 1 GiB takes, and its memory."""

from __future__ import annotations

import base64
import hashlib
import platform
import sys
import zipfile
from pathlib import Path
from statistics import median

from bench.cost import in_turn
from bench.places import scratch, tool
from bench.result import Result
from bench.watch import watch

N = 5
SECONDS = {"stored": 1.0, "deflated": 2.0}  # to unpack alone takes a second of one processor
MEGABYTES = 150
_SIZE = 1 << 30  # bytes
_INFO = "paddle_custom_tiny-3.3.1.dist-info"
_LIBRARY = "paddle_custom_device/libpaddle-custom-tiny.so"


def wheel() -> list[Result]:
    """`paddock verify-wheel --no-import` on one library: what counts is its size."""
    with scratch() as folder:
        content = _library()
        plain = _wheel(folder / "plain", content, zipfile.ZIP_STORED)
        packed = _wheel(folder / "packed", content, zipfile.ZIP_DEFLATED)
        del content
        return [result for name, path in (("stored", plain), ("deflated", packed))
                for result in _measured(name, path)]  # fmt: skip


def _measured(name: str, path: Path) -> list[Result]:
    """Its time and its memory. The audit finds nothing: what it refuses it would not read."""
    command = tool("verify-wheel", str(path), "--no-import")
    (costs,) = in_turn([command], N)
    walls, cpus = [cost.wall for cost in costs], [cost.cpu for cost in costs]
    detail = f"wall {min(walls):.2f} to {max(walls):.2f} s, cpu {median(cpus):.2f} s"
    return [
        Result(f"verify-wheel, 1 GiB {name}", median(walls), " s", SECONDS[name], N, detail),
        Result("its peak memory", watch(command).peak, " MB", MEGABYTES, 1, "the same wheel"),
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
