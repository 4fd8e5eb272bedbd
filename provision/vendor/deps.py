"""The folder of packages that the user has got: which file in it is the one that is wanted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from provision.vendor.rows import Package, filled, matches, pattern

if TYPE_CHECKING:
    from provision.stack import Step
    from provision.steps.base import Context

# The first spelling is the one that is shown: the vendor's own for a file that is not there.
_ARCH = {"x86_64": "x86-64|x86_64", "aarch64": "aarch64"}
_DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True)
class Found:
    """A package's file. `others` are names of its other versions beside it, `rivals` of files that
    would do as well; `archive` is what it still has to be unpacked from, and then `path` only says
    where it is expected."""

    path: Path
    others: tuple[str, ...] = ()
    archive: Path | None = None
    rivals: tuple[str, ...] = ()


def known(context: Context) -> dict[str, str]:
    """What names may refer to: the release's pins, and what the machine is."""
    machine = {"arch": _ARCH.get(context.arch, context.arch), "python": context.tag or "cp3*",
               "deb": _DEBIAN.get(context.arch, context.arch), "machine": context.arch}  # fmt: skip
    return {**context.stack.releases[context.release].pins, **machine}


def wanted(package: Package, context: Context) -> str | None:
    """The name of the file that is wanted; None where this release needs no such package."""
    return next((filled(name, known(context)) for name in package.names(known(context))), None)


def find(package: Package, context: Context) -> Found | None:
    """The file in the folder, or the archive that may hold it."""
    expected = wanted(package, context)
    if expected is None or context.deps is None:
        return None
    files = list(_files(context))
    for name in package.names(known(context)):
        if matching := [one for one in files if pattern(name, known(context)).fullmatch(one.name)]:
            return _chosen(name, matching, files, context)
    archive = next(iter(_archives(package, context)), None)
    return Found(place(archive, context) / expected, (), archive) if archive else None


def _chosen(name: str, matching: list[Path], files: list[Path], context: Context) -> Found:
    """The first file of that name; two spellings of one processor are no rivals."""
    names = sorted({path.name for path in matching})
    rivals = tuple(names) if "*" in name and len(names) > 1 else ()
    others = tuple(_others(name, context, files, matching[0]))
    return Found(matching[0], others, rivals=rivals)


def archives(context: Context, steps: Iterable[Step]) -> list[Path]:
    """What has to be unpacked for these steps."""
    names = dict.fromkeys(name for step in steps for name in (step.package, *step.debs) if name)
    found = (find(context.stack.packages[name], context) for name in names)
    return list(dict.fromkeys(one.archive for one in found if one and one.archive))


def place(archive: Path, context: Context) -> Path:
    """Where an archive is unpacked: another archive of the same name lies elsewhere."""
    status = archive.stat()
    key = f"{archive.resolve()}\0{status.st_size}\0{status.st_mtime_ns}"
    return context.site.unpacked / hashlib.sha256(key.encode()).hexdigest()[:16]


def _others(name: str, context: Context, files: list[Path], chosen: Path) -> Iterator[str]:
    """Files that differ from the chosen one in their versions only."""
    pins = tuple(context.stack.releases[context.release].pins)
    any_version = pattern(name, known(context), pins)
    names = {path.name for path in files if any_version.fullmatch(path.name)}
    return iter(sorted(names - {chosen.name}))


def _files(context: Context) -> Iterator[Path]:
    """The files of the folder, of the folders in it, and of the archives unpacked before."""
    for archive in _all_archives(context):
        if (folder := place(archive, context)).is_dir():
            yield from sorted(path for path in folder.rglob("*") if path.is_file())
    for path in _listed(context.deps):
        if path.is_file():
            yield path
        elif path.is_dir():
            yield from (inner for inner in _listed(path) if inner.is_file())


def _listed(folder: Path | None) -> list[Path]:
    try:
        return sorted(folder.iterdir()) if folder else []
    except OSError:  # not ours to read: what is in it counts as missing
        return []


def _all_archives(context: Context) -> list[Path]:
    rows = context.stack.packages.values()
    return list(dict.fromkeys(one for row in rows for one in _given(row, context)))


def _given(package: Package, context: Context) -> Iterator[Path]:
    """The archives of a package that lie in the folder."""
    for name in package.archives:
        if archive := matches(name, known(context)):
            yield from (path for path in _listed(context.deps) if archive.fullmatch(path.name))


def _archives(package: Package, context: Context) -> list[Path]:
    """Those that were not unpacked yet."""
    return [one for one in _given(package, context) if not place(one, context).is_dir()]
