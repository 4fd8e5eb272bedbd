"""Drivers that DKMS builds for each kernel, from its tree; the program itself is not asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from provision.facts import small

State = Literal["added", "built", "installed"]


class Dkms(msgspec.Struct, frozen=True):
    """One version of a driver for one kernel.

    `added`: built for no kernel yet (`kernel` and `arch` are None). `built`: not put in place.
    `source`: whether its source is there, without which no further kernel can get it. `failed`: the
    log of a build that did not end is there.
    """

    name: str
    version: str
    kernel: str | None
    arch: str | None
    state: State
    source: bool | None
    failed: bool | None


def collect(root: Path = Path("/")) -> list[Dkms] | None:
    """All drivers of DKMS, sorted; None when its tree cannot be read or is not there.

    Source: dkms, the layout of /var/lib/dkms (NAME/VERSION/KERNEL/ARCH/module, and the link
    NAME/kernel-KERNEL-ARCH at what is installed).
    """
    tree = root / "var/lib/dkms"
    names = small.names(tree, 1000)
    if names is None:
        return None
    folders = [tree / name for name in names if small.is_folder(tree / name)]
    return [row for folder in folders for row in _driver(folder, root)]


def _driver(folder: Path, root: Path) -> Iterator[Dkms]:
    """The versions of one driver; links at the top are those of installed builds."""
    for version in small.names(folder, 100) or ():
        place = folder / version
        if small.is_folder(place) and not place.is_symlink():
            yield from _version(folder, version, root)


def _version(folder: Path, version: str, root: Path) -> Iterator[Dkms]:
    """What is built of one version; the one row `added` where nothing is."""
    place = folder / version
    names = small.shown(folder.name), small.shown(version)
    # A build that ends well moves its log to the kernel's folder.
    source = small.is_folder(small.followed(place / "source", root))
    notes = source, small.is_file(place / "build/make.log")
    builds = list(_builds(place))
    for kernel, arch in builds:
        link = folder / f"kernel-{kernel}-{arch}"
        state: State = "installed" if _leads(link, (version, kernel, arch)) else "built"
        yield Dkms(*names, small.shown(kernel), small.shown(arch), state, *notes)
    if not builds:
        yield Dkms(*names, None, None, "added", *notes)


def _builds(place: Path) -> Iterator[tuple[str, str]]:
    """Kernel and architecture of each finished build."""
    for kernel in small.names(place, 1000) or ():
        if kernel in ("source", "build"):
            continue
        for arch in small.names(place / kernel, 100) or ():
            if small.names(place / kernel / arch / "module", 1):
                yield kernel, arch


def _leads(link: Path, end: tuple[str, str, str]) -> bool:
    """Whether a link leads to this build."""
    try:
        return link.readlink().parts[-3:] == end
    except (OSError, ValueError):
        return False
