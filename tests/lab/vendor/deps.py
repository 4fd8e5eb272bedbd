"""The folder of packages that a rehearsal has: all that the default release of a target wants."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.lab.vendor import ascend, enflame, stand_in

_PACKAGES: dict[str, Callable[[Path], object]] = {
    "ascend910b": ascend.write,
    "s60": enflame.rider,
}


def fill(vendor: str, folder: Path) -> None:
    """Write the vendor's packages, and the stand-in for its plugin."""
    _PACKAGES[vendor](folder)
    shutil.copy(stand_in.wheel(vendor), folder)
