"""Which file is the one that is wanted: in the user's folder, downloaded, or to be downloaded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from provision.vendor import unpacked
from provision.vendor.look import unreadable
from provision.vendor.offer import Offer
from provision.vendor.rows import Package, filled, matches, pattern

if TYPE_CHECKING:
    from provision.steps.base import Context
    from provision.vendor.public import Site

# The first spelling is the one that is shown: the vendor's own for a file that is not there.
_ARCH = {"x86_64": "x86-64|x86_64", "aarch64": "aarch64"}
_DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True)
class Found:
    """A package's file. `others` are names of its other versions beside it, `rivals` of files that
    would do as well, `twins` files of the same name in other folders; `archive` is what it still
    has to be unpacked from, `offer` what has to be downloaded before; then `path` only says where
    it is expected."""

    path: Path
    others: tuple[str, ...] = ()
    archive: Path | None = None
    rivals: tuple[str, ...] = ()
    offer: Offer | None = None
    twins: tuple[Path, ...] = ()

    @property
    def is_here(self) -> bool:
        """Whether it can be used as it is."""
        return not (self.archive or self.offer)


def known(context: Context) -> dict[str, str]:
    """What names may refer to: the release's pins, and what the machine is."""
    machine = {"arch": _ARCH.get(context.arch, context.arch), "python": context.tag or "cp3*",
               "deb": _DEBIAN.get(context.arch, context.arch), "machine": context.arch}  # fmt: skip
    return {**context.stack.releases[context.release].pins, **machine}


def wanted(package: Package, context: Context) -> str | None:
    """The name of the file that is wanted; None where this release needs no such package."""
    return next((filled(name, known(context)) for name in package.names(known(context))), None)


def find(package: Package, context: Context) -> Found | None:
    """The file in the folder, the archive that may hold it, or what can be downloaded for it.

    Raises PaddockError `server-failed`, and `package-unreadable` for the folder itself.
    """
    expected = wanted(package, context)
    if expected is None:
        return None
    files = list(_files(context))
    for name in package.names(known(context)):
        if matching := [one for one in files if pattern(name, known(context)).fullmatch(one.name)]:
            return _chosen(name, matching, files, context)
    if archives := _archives(package, context):
        at = place(archives[0], context) / expected
        same = (one for one in archives[1:] if one.name == archives[0].name)
        return Found(at, (), archives[0], twins=tuple(same))
    return _offered(package, expected, context)


def _offered(package: Package, expected: str, context: Context) -> Found | None:
    """What a server has: the file itself, else an archive of it."""
    offers = list(context.remote.offers(context.folder))
    for name in all_names(package, context):
        right = [one for one in offers if pattern(name, known(context)).fullmatch(one.name)]
        if right:
            names = sorted({one.name for one in right})
            rivals = tuple(names) if "*" in name and len(names) > 1 else ()
            file = expected if name in package.archives else right[0].name
            return Found(context.site.downloads / file, rivals=rivals, offer=right[0])
    return None


def locked(package: Package, context: Context) -> tuple[str, Site, Offer] | None:
    """Where a package could be downloaded from, were a licence accepted: by which name, whose."""
    patterns = [pattern(name, known(context)) for name in all_names(package, context)]
    found = context.remote.locked(context.folder)
    return next((one for one in found if any(p.fullmatch(one[2].name) for p in patterns)), None)


def all_names(package: Package, context: Context) -> list[str]:
    """The names of the package, then of its archives."""
    packed = [name for name in package.archives if matches(name, known(context))]
    return [*package.names(known(context)), *packed]


def _chosen(name: str, matching: list[Path], files: list[Path], context: Context) -> Found:
    """The first file of that name; two spellings of one processor are no rivals."""
    names = sorted({path.name for path in matching})
    rivals = tuple(names) if "*" in name and len(names) > 1 else ()
    others = tuple(_others(name, context, files, matching[0]))
    return Found(matching[0], others, rivals=rivals, twins=tuple(matching[1:]))


def place(archive: Path, context: Context) -> Path:
    """Where an archive is unpacked."""
    return unpacked.place(archive, context.site.unpacked)


def _others(name: str, context: Context, files: list[Path], chosen: Path) -> Iterator[str]:
    """Files that differ from the chosen one in their versions only."""
    pins = tuple(context.stack.releases[context.release].pins)
    any_version = pattern(name, known(context), pins)
    names = {path.name for path in files if any_version.fullmatch(path.name)}
    return iter(sorted(names - {chosen.name}))


def _files(context: Context) -> Iterator[Path]:
    """The files of the folder, of the folders in it, of the archives unpacked before, and what was
    downloaded before."""
    for archive in _all_archives(context):
        if (folder := place(archive, context)).is_dir():
            yield from sorted(path for path in folder.rglob("*") if path.is_file())
    yield from (path for path in entries(context) if os.path.isfile(path))  # noqa: PTH113


def entries(context: Context) -> Iterator[Path]:
    """All that lies in the folder, in the folders in it, and among what was downloaded before.

    `os.path` answers for what this user may not see, too. Raises PaddockError `package-unreadable`
    for the folder itself.
    """
    for path in _listed(context.deps):
        yield path
        if os.path.isdir(path) and os.access(path, os.R_OK):  # noqa: PTH112 - `astray` tells of others
            yield from _listed(path)
    yield from _listed(context.site.downloads)


def _listed(folder: Path | None) -> list[Path]:
    try:
        return sorted(folder.iterdir()) if folder else []
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unreadable(folder or Path(), error) from None


def _all_archives(context: Context) -> list[Path]:
    rows = context.stack.packages.values()
    return list(dict.fromkeys(one for row in rows for one in _given(row, context)))


def _given(package: Package, context: Context) -> Iterator[Path]:
    """The archives of a package that lie in the folder, or were downloaded."""
    there = [*_listed(context.deps), *_listed(context.site.downloads)]
    for name in package.archives:
        if archive := matches(name, known(context)):
            named = (path for path in there if archive.fullmatch(path.name))
            yield from (path for path in named if os.path.isfile(path))  # noqa: PTH113


def _archives(package: Package, context: Context) -> list[Path]:
    """Those that were not unpacked yet."""
    return [one for one in _given(package, context) if not place(one, context).is_dir()]
