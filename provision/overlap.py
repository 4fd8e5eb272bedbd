"""Files of a wheel that another installed distribution has: installing it would overwrite them.

All plugins of Paddle put a `paddle_custom_device/__init__.py` of their own into one folder, and no
installer minds.
"""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from provision.distributions import installed, normal, record
from provision.errors import PaddockError


class Overlap(NamedTuple):
    """A file of an installed distribution that a wheel has too, with the same content or not."""

    file: str
    distribution: str
    version: str
    same: bool


def refuse(wheel: Path, site_packages: Path) -> None:
    """Raises PaddockError `plugin-overlap` where a wheel would change another one's files."""
    theirs = overlaps(wheel.name.partition("-")[0], listed(wheel), site_packages)
    found = [one for one in theirs if not one.same]
    if found:
        name, other = found[0].distribution, f"{found[0].distribution} {found[0].version}"
        file = found[0].file
        raise PaddockError("plugin-overlap", wheel=wheel.name, file=file, other=other, name=name)


def listed(wheel: Path) -> dict[str, str]:
    """The files of a wheel with their digests, by its own list."""
    with zipfile.ZipFile(wheel) as whole:
        names = [name for name in whole.namelist() if name.endswith(".dist-info/RECORD")]
        return rows(whole.read(names[0]).decode("utf-8", "replace")) if names else {}


def overlaps(name: str, digests: dict[str, str], site_packages: Path) -> Iterator[Overlap]:
    """What a distribution with these files (name -> digest) shares with others that are there."""
    for (other, version), folder in installed(site_packages).items():
        if other != normal(name):
            theirs = rows(record(folder / "RECORD"))
            for file in sorted(theirs.keys() & digests.keys()):
                yield Overlap(file, other, version, theirs[file] == digests[file])


def rows(text: str) -> dict[str, str]:
    """A RECORD as file -> digest."""
    return {row[0]: row[1] for row in csv.reader(text.splitlines()) if len(row) > 1}
