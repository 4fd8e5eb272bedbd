"""Files that two distributions have in common: whichever comes last overwrites the other's.

All plugins of Paddle put a `paddle_custom_device/__init__.py` of their own into one folder, and no
installer minds.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from provision.distributions import installed, normal, record

PLUGIN = "paddle_custom_device/__init__.py"


class Overlap(NamedTuple):
    """A file of an installed distribution that another has too, with the same content or not."""

    file: str
    distribution: str
    version: str
    same: bool


def overlaps(name: str, digests: dict[str, str], site_packages: Path) -> Iterator[Overlap]:
    """What a distribution with these files (name -> digest) shares with others that are there."""
    for (other, version), folder in installed(site_packages).items():
        if other != normal(name):
            theirs = rows(record(folder / "RECORD"))
            for file in sorted(theirs.keys() & digests.keys()):
                yield Overlap(file, other, version, theirs[file] == digests[file])


def plugin_in_the_way(name: str, site_packages: Path | None) -> Overlap | None:
    """The installed plugin of another distribution than this one; None where there is none."""
    if site_packages is None:
        return None
    return next(overlaps(name, {PLUGIN: ""}, site_packages), None)


def rows(text: str) -> dict[str, str]:
    """A RECORD as file -> digest."""
    return {row[0]: row[1] for row in csv.reader(text.splitlines()) if len(row) > 1}
