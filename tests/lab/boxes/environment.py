"""A Python environment with Paddle and its plugin, as far as it can be read without running them.

The distributions are there by their metadata, the plugin is a real library that links what the
vendor's would, and Paddle itself a stand-in that opens it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.lab.boxes.objects import library

PLACE = "opt/paddle"
SITE = f"{PLACE}/lib/python3.10/site-packages"
# Makes the environment whole: the box's own Python belongs to it.
SETUP = f"python3 -m venv --without-pip /{PLACE}\n"
_PADDLE = Path(__file__).parent / "programs/paddle.py"


def write_environment(
    root: Path, plugin_name: str, version: str, libraries: Iterable[Path], calls: Iterable[str]
) -> None:
    """Put the environment into a folder, with Paddle and its plugin of one version.

    The plugin needs these libraries and calls these functions.
    """
    site = root / SITE
    for name, its_version in _packages(plugin_name, version).items():
        _distribution(site, name, its_version)
    (site / "paddle/base").mkdir(parents=True)
    (site / "paddle/__init__.py").write_text(_PADDLE.read_text())
    library(site / "paddle/base/libpaddle.so", ["paddleInit"])
    plugin(site / f"paddle_custom_device/libpaddle-{plugin_name}.so", libraries, calls)


def plugin(file: Path, libraries: Iterable[Path], calls: Iterable[str]) -> None:
    """A plugin by its look."""
    library(file, ["InitPlugin"], libraries, calls)


def _packages(plugin_name: str, version: str) -> Mapping[str, str]:
    """The distributions with their versions; those after the plugin are what CANN imports."""
    return {
        "paddlepaddle": version, f"paddle-{plugin_name}".replace("-", "_"): version,
        "numpy": "1.26.4", "attrs": "25.1.0", "decorator": "5.2.1", "psutil": "7.0.0",
        "scipy": "1.14.1", "sympy": "1.13.1",
    }  # fmt: skip


def _distribution(site: Path, name: str, version: str) -> None:
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    tag = "cp310-cp310-linux_x86_64"
    (folder / "WHEEL").write_text(f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n")
    (folder / "RECORD").write_text("")
