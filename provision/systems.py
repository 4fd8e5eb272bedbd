"""Which operating systems Huawei's installer knows for which generation of cards."""

from __future__ import annotations

import functools
import re
from typing import Literal

from provision.document import Table, tables
from provision.paths import IMAGES
from provision.versions import begins

_VERSION = re.compile(r"(?P<number>v?\d+(?:\.\d+)*)(?P<edition>.*)", re.DOTALL)


class System(Table, frozen=True):
    """A row of `images/systems.toml`. `id` is that of os-release, in lower case."""

    id: str
    version: str
    arch: str
    generations: list[str]
    source: str
    seen: str
    edition: str = ""


@functools.cache
def systems() -> tuple[System, ...]:
    """All rows, in the order of the file."""
    return tuple(tables(IMAGES / "systems.toml", "systems", System))


def supported(
    generation: str, os_id: str, os_version: str, arch: str
) -> Literal["listed", "unlisted"] | None:
    """Whether the list has a system for a generation, as `images/accelerators.toml` calls it.

    `os_version` is VERSION of os-release, such as `22.03 (LTS-SP4)`. None where it leaves open
    which row is meant (VERSION_ID tells no edition, `7` may be any 7.x), and for a generation that
    no row names.
    """
    if not any(generation in row.generations for row in systems()):
        return None
    rows = [row for row in systems() if (row.id, row.arch) == (os_id.lower(), arch)]
    match = _VERSION.match(os_version.strip().lower())
    if not match:
        return None if rows else "unlisted"
    possible, is_open = _possible(rows, match["number"], _edition(match["edition"], arch))
    if not any(generation in row.generations for row in possible):
        return "unlisted"
    return None if is_open else "listed"


def _possible(rows: list[System], number: str, edition: str) -> tuple[list[System], bool]:
    """The rows that may stand for a system, and whether it may be one without a row as well."""
    same = [row for row in rows if begins(number, row.version)]
    exact = [row for row in same if row.edition and row.edition == edition]
    if exact:
        return exact, False
    finer = [row for row in rows if row not in same and begins(row.version, number)]
    possible = finer + [row for row in same if not (edition and row.edition)]
    return possible, bool(finer) or any(row.edition for row in same)


def _edition(text: str, arch: str) -> str:
    """What stands behind the number, without the architecture that EulerOS adds.

    ` (LTS-SP4)` is `lts-sp4`, `(SP10x86_64)` is `sp10`.
    """
    return "-".join(re.findall(r"[a-z0-9]+", text.replace(arch, "")))
