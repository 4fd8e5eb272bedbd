"""Plugin wheels under the names that Paddle gives them; there is no plugin in them."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path


def plugin(folder: Path, device: str, version: str = "3.0.0", tag: str = "cp310") -> Path:
    """A wheel of `paddle-custom-DEVICE` with one file, for the Python of a box."""
    name = f"paddle_custom_{device}"
    full = f"{tag}-{tag}-linux_x86_64"
    path = folder / f"{name}-{version}-{full}.whl"
    info = f"{name}-{version}.dist-info"
    wheel = f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {full}\n"
    files = {
        f"paddle_custom_device/{device}/__init__.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": wheel,
    }
    rows = [f"{file},sha256={_digest(text)},{len(text)}\n" for file, text in files.items()]
    files[f"{info}/RECORD"] = "".join([*rows, f"{info}/RECORD,,\n"])
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return path


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
