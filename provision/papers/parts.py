"""What the wheel of a recipe was made from besides its sources and locks: the vendor's files, and
packages that no lock names."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from provision import distributions
from provision.digest import sha256
from provision.papers.statement import package

if TYPE_CHECKING:
    from provision.wheels.work import Work

_OF_INSTALLERS = ("INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")


def vendors(work: Work) -> Iterator[dict[str, object]]:
    """The vendor's files that the build takes: headers, libraries, and archives linked in whole."""
    for piece in work.recipe.handed_out():
        path = piece.found(work.known)
        if path and path.is_file() and piece.applies(work.folder, work.known):
            name = piece.name if path.name == Path(piece.name).name else path.name
            yield {"name": f"{piece.vendor}/{name}", "digest": {"sha256": sha256(path)},
                   "annotations": {"vendor": piece.vendor}}  # fmt: skip


def packages(folder: Path, counts: Callable[[str], bool]) -> Iterator[dict[str, object]]:
    """The installed packages of the names that count, each with the digest of its list of files."""
    for (name, version), info in sorted(distributions.installed(folder).items()):
        if counts(name):
            told = {"files": _files(info)}
            yield {"uri": package(name, version), "annotations": told}


def _files(info: Path) -> str:
    """The SHA-256 of a RECORD, without the rows that the installer wrote for this machine.

    "" where there is none.
    """
    rows = csv.reader(distributions.record(info / "RECORD").splitlines())
    own = sorted(
        f"{row[0]},{row[1]}\n" for row in rows
        if len(row) > 1 and row[1] and not row[0].startswith(("..", "/"))
        and Path(row[0]).name not in _OF_INSTALLERS
    )  # fmt: skip
    return hashlib.sha256("".join(own).encode()).hexdigest() if own else ""
