"""Where the real outputs are: outside of the project, where PADDOCK_TEST_RECORDINGS says."""

from __future__ import annotations

import os
from pathlib import Path

GIVEN = os.environ.get("PADDOCK_TEST_RECORDINGS")
FOLDER = Path(GIVEN or "/nonexistent")
OURS = ("npu-smi", "npu-smi-sub", "efsmi", "lspci", "versions", "hccn", "docker", "k8s")


def recordings() -> list[Path]:
    """The recordings of tools, and of the errors those of npu-smi."""
    files = [path for name in OURS for path in (FOLDER / name).rglob("*") if path.is_file()]
    errors = list((FOLDER / "errors").glob("npu-smi*"))
    return sorted(path for path in files + errors if path.suffix != ".csv")
