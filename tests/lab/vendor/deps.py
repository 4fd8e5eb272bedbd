"""The folder of packages that a rehearsal has: all that a release of a target wants."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from provision.stack import load, stack_file
from tests.lab.vendor import ascend, enflame, stand_in, wheels

Pins = Mapping[str, str]


def _ascend(folder: Path, pins: Pins) -> None:
    ascend.write(folder, pins["driver"], pins["firmware"], pins["cann"], pins.get("nnal", ""))


def _enflame(folder: Path, pins: Pins) -> None:
    if "platform" in pins:
        enflame.platform(folder, pins["platform"])
    else:
        enflame.rider(folder, pins["topsrider"], pins["driver"], pins["tops"])


PACKAGES: dict[str, Callable[[Path, Pins], None]] = {"ascend910b": _ascend, "s60": _enflame}


def fill(vendor: str, folder: Path, release: str = "") -> None:
    """Write the vendor's packages of a release ("" is the default), and a stand-in for its plugin.

    Once: an installer that is made anew has other bytes, and is refused after its first use. Where
    no index has the release's Paddle, there is no plugin in the plugin's wheel: none is installed.
    """
    stack = load(stack_file(vendor))
    name = stack.release(release or None)
    mark, pins = folder / f".{name}", stack.releases[name].pins
    if mark.exists():
        return
    PACKAGES[vendor](folder, pins)
    if wheel := stand_in.wheel(vendor, name):
        shutil.copy(wheel, folder)
    else:
        wheels.plugin(folder, stack.device, pins["plugin"])
    mark.touch()
