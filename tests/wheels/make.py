"""Wheels made by hand, sound ones and bad ones of each kind."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

TAG = f"cp{sys.version_info[0]}{sys.version_info[1]}"
HERE = f"{TAG}-{TAG}-linux_x86_64"
INIT = "paddle_custom_device/__init__.py"
LIBRARY = "paddle_custom_device/libpaddle-custom-tiny.so"

Change = Callable[[dict[str, bytes]], None]


def digest(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()[:-1]


def sound(  # noqa: PLR0913, PLR0917 - what may differ, each with a value for "as usual"
    folder: Path, files: Mapping[str, bytes], name: str = "",
    version: str = "3.3.1", tag: str = HERE, metadata: str = "",
    change: Change = lambda files: None,
) -> Path:  # fmt: skip
    """A wheel of these files; `change` spoils them after RECORD was written.

    One with a library is called a plugin, as it has to be one then.
    """
    name = name or ("paddle_custom_tiny" if LIBRARY in files else "tiny")
    info = f"{name}-{version}.dist-info"
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}"
    wheel = f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: {tag}\n"
    held = {**files, f"{info}/METADATA": head.encode(), f"{info}/WHEEL": wheel.encode()}
    rows = [f"{path},{digest(content)},{len(content)}" for path, content in held.items()]
    held[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,\n"]).encode()
    change(held)
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as whole:
        for one, content in held.items():
            whole.writestr(one, content)
    return path


def compiled(
    folder: Path, source: str, *flags: str, name: str = "libpaddle-custom-tiny.so"
) -> Path:
    """A shared library of C code; of C++ where it says std::."""
    folder.mkdir(parents=True, exist_ok=True)
    code = folder / ("code.cc" if "std::" in source else "code.c")
    code.write_text(source)
    program = "g++" if code.suffix == ".cc" else "gcc"
    made = folder / name
    command = [program, "-shared", "-fPIC", "-o", str(made), str(code), *flags]
    subprocess.run(command, check=True, timeout=60)
    return made


def noise(size: int) -> bytes:
    """Bytes that do not pack, always the same."""
    return hashlib.shake_128(b"noise").digest(size)
