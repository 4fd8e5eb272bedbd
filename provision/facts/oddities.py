"""What is not in order among the distributions of an environment, by their records alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from provision.distributions import installed, normal, record

# Folders that careless packages bring to the top level; nobody imports them.
_STRAY = {"benchmarks", "doc", "docs", "examples", "scripts", "test", "tests", "tools"}
_ENDS = (".py", ".so", ".pyi")


class Oddity(msgspec.Struct, frozen=True):
    """Something that an installer would not leave. `names` are distributions, `where` paths.

    `twice`: two versions in one folder; `shadowed`: one in a folder that comes later; `leftover`:
    the rest of a removed one (`~addle`); `torn`: a record without METADATA; `overwritten`: two
    distributions brought the same file with different content.
    """

    kind: Literal["twice", "shadowed", "leftover", "torn", "overwritten"]
    names: list[str]
    where: list[str]


def find(folders: Sequence[Path]) -> list[Oddity]:
    """All that is odd in these folders, in their order of precedence."""
    own = [one for folder in folders for one in _own(folder)]
    return [*own, *_shadowed(folders)]


def _own(folder: Path) -> Iterator[Oddity]:
    """What is odd within one folder."""
    found: dict[str, list[Path]] = {}
    for (name, _), place in installed(folder).items():
        found.setdefault(name, []).append(place)
    for name, places in found.items():
        if len(places) > 1:
            yield Oddity("twice", [name], [str(place) for place in places])
    for path in sorted(folder.glob("[~-]*")):
        yield Oddity("leftover", [path.name], [str(path)])
    for path in sorted(folder.glob("[!~-]*.dist-info")):
        if not (path / "METADATA").is_file():
            yield Oddity("torn", [normal(path.stem.rpartition("-")[0])], [str(path)])
    yield from _overwritten(folder)


def _shadowed(folders: Sequence[Path]) -> Iterator[Oddity]:
    """Distributions that an earlier folder has in another version."""
    first: dict[str, tuple[str, Path]] = {}
    for folder in folders:
        for (name, version), place in installed(folder).items():
            known, winner = first.setdefault(name, (version, place))
            if winner.parent != folder and known != version:
                yield Oddity("shadowed", [name], [str(winner), str(place)])


def _overwritten(folder: Path) -> Iterator[Oddity]:
    """Pairs of distributions that brought a file of the same path with different content.

    Whichever was installed last has broken the other: paddlepaddle with paddlepaddle-gpu, triton
    with triton-ascend, one opencv with another.
    """
    owners: dict[str, tuple[str, str]] = {}
    pairs: dict[tuple[str, str], str] = {}
    for (name, _), place in installed(folder).items():
        for path, digest in _files(place):
            owner, known = owners.setdefault(path, (name, digest))
            if owner != name and known != digest:
                pairs.setdefault((owner, name), path)
    for (one, other), path in pairs.items():
        yield Oddity("overwritten", [one, other], [str(folder / path)])


def _files(place: Path) -> Iterator[tuple[str, str]]:
    """Path and digest of the importable files of a distribution, from its RECORD."""
    for line in record(place / "RECORD").splitlines():
        path, _, rest = line.partition(",")
        digest = rest.partition(",")[0]
        if digest and path.endswith(_ENDS) and path.partition("/")[0] not in _STRAY:
            yield path, digest
