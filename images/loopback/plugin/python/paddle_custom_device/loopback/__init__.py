"""A device in host memory: what it was built for, and what it did in this process.

The counts are asked of the library that Paddle has loaded; nothing here loads it.
"""

from __future__ import annotations

import ctypes
import json
import os
from pathlib import Path
from typing import Any

from .built_for import INTERFACE_BYTES, PADDLE_VERSION

__all__ = ["reset_stats", "stats", "version"]

HERE = Path(__file__).parent  # the device type is its name
LIBRARY = HERE.parent / f"libpaddle-custom-{HERE.name}.so"


def version() -> dict[str, str]:
    """Print and return what this is built for: Paddle's release and interface size in bytes."""
    facts = {"version": PADDLE_VERSION, "interface_bytes": str(INTERFACE_BYTES)}
    for name, value in facts.items():
        print(f"{name}: {value}")  # noqa: T201 - as the vendors' packages do
    return facts


def stats() -> dict[str, Any]:
    """Return what the plugin counted since its start or the last `reset_stats`.

    Keys: ``kernels`` (launches by name), ``copies`` (``h2d``, ``d2h``, ``d2d``, each with
    ``count`` and ``bytes``), ``streams`` and ``events`` (created), ``devices`` (a list: for each
    ``limit_bytes``, ``bytes_in_use``, ``peak_bytes``, ``allocations``, ``failed_allocations``).
    Raises RuntimeError when Paddle has not loaded this plugin.
    """
    text = _library().loopback_stats()
    if text is None:
        raise RuntimeError("the loopback devices are not running in this process")
    counted: dict[str, Any] = json.loads(text)
    return counted


def reset_stats() -> None:
    """Set every count to zero and each peak to what is in use. Errors as for `stats`."""
    if not _library().loopback_reset_stats():
        raise RuntimeError("the loopback devices are not running in this process")


def _library() -> ctypes.CDLL:
    # RTLD_NOLOAD: a second, idle copy of the plugin would count nothing.
    try:
        library = ctypes.CDLL(str(LIBRARY), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError as failure:
        message = f"Paddle has not loaded {LIBRARY.name}: import paddle first"
        raise RuntimeError(message) from failure
    library.loopback_stats.restype = ctypes.c_char_p
    library.loopback_reset_stats.restype = ctypes.c_bool
    return library
