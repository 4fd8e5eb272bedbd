"""The vendors' kernel modules: those that are loaded, and their files for every kernel here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from provision.document import Table, tables
from provision.facts import modinfo, small
from provision.paths import IMAGES

_PACKED = ("", ".gz", ".xz", ".zst")
_FOLDERS = ("updates", "extra", "weak-updates", "misc")  # where drivers go that are no kernel's own
_MOST = 20_000  # entries of these folders for one kernel


class Row(Table, frozen=True):
    """A row of `images/kernel_modules.toml`: module names of a vendor."""

    vendor: str
    names: list[str]
    prefixes: list[str]
    source: str
    seen: str


class Module(msgspec.Struct, frozen=True):
    """A module that is loaded. `version` is None where it tells none."""

    name: str
    vendor: str
    version: str | None


class ModuleFile(msgspec.Struct, frozen=True):
    """A module's file for the kernel `kernel` (its folder below /lib/modules).

    `vermagic` is "RELEASE FLAGS..." of the kernel that it was built for, `version` the driver's
    own; both are read for the running kernel alone, and None where they cannot be.
    """

    kernel: str
    name: str
    vendor: str
    path: str
    vermagic: str | None = None
    version: str | None = None

    @property
    def built_for(self) -> str | None:
        """The release of the kernel that it was built for."""
        return self.vermagic.split()[0] if self.vermagic else None


def catalogue() -> list[Row]:
    """The known names."""
    return tables(IMAGES / "kernel_modules.toml", "rows", Row)


def vendor(name: str, rows: list[Row]) -> str | None:
    """Whose module this is; None for one that no row names."""
    for row in rows:
        if name in row.names or name.startswith(tuple(row.prefixes)):
            return row.vendor
    return None


def loaded_names(root: Path) -> set[str] | None:
    """All names of /proc/modules and /sys/module; None when neither can be read."""
    listed = small.text(root / "proc/modules", 1 << 22)
    folders = small.names(root / "sys/module")
    if listed is None and folders is None:
        return None
    first = {line.split()[0] for line in (listed or "").splitlines() if line.strip()}
    return first | {small.shown(name) for name in folders or ()}


def loaded(root: Path, rows: list[Row]) -> list[Module] | None:
    """The vendors' modules in the running kernel; None when it cannot be told."""
    names = loaded_names(root)
    if names is None:
        return None
    owners = {name: owner for name in sorted(names) if (owner := vendor(name, rows))}
    versions = {name: small.text(root / "sys/module" / name / "version", 256) for name in owners}
    return [Module(name, owner, versions[name] or None) for name, owner in owners.items()]


def files(root: Path, kernels: list[str], running: str, rows: list[Row]) -> list[ModuleFile]:
    """The vendors' module files of these kernels, sorted by kernel, name and path."""
    found = []
    for kernel in kernels:
        for path in set(_paths(root / "lib/modules" / kernel)):
            name = module_name(path)
            owner = vendor(name, rows) if name else None
            if name and owner and small.is_file(path):
                found.append(_file(path, kernel, name, owner, kernel == running))
    return sorted(found, key=lambda file: (file.kernel, file.name, file.path))


def module_name(path: Path) -> str | None:
    """The name that the kernel gives to the module in a file; None when the file is none."""
    stem, dot, packed = path.name.partition(".ko")
    known = dot and packed in _PACKED
    return small.shown(stem).replace("-", "_") if known else None


def _file(path: Path, kernel: str, name: str, owner: str, read: bool) -> ModuleFile:
    """One file, with what it says of itself where that is to be read."""
    said = modinfo.read(path) if read else {}
    shown = small.shown(kernel), name, owner, small.shown(path)
    return ModuleFile(*shown, said.get("vermagic") or None, said.get("version") or None)


def _paths(folder: Path) -> Iterator[Path]:
    """The module files by depmod's list, and those in the drivers' folders that it lacks."""
    for line in (small.text(folder / "modules.dep", 1 << 24) or "").splitlines():
        yield folder / line.partition(":")[0]
    seen = 0
    for place in _FOLDERS:
        for top, _, names in os.walk(folder / place):
            seen += len(names)
            if seen > _MOST:
                return
            yield from (Path(top, name) for name in names if ".ko" in name)
