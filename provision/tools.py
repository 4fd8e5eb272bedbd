"""The programs that come with the tool's own environment."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path


def uv() -> str:
    """The path of uv: the one installed beside this Python, else the one on PATH.

    It is a dependency of the tool, so it is missing only in a broken installation: then the name
    alone, whose failure says so.
    """
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.exists() else shutil.which("uv") or "uv"
