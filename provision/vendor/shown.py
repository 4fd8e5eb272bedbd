"""Which version of a vendor's package is installed, and how it stands to the pin."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from provision.distributions import installed, normal
from provision.facts import modinfo
from provision.vendor.deps import known, wanted
from provision.vendor.rows import Package, filled
from provision.versions import compare, same_release

if TYPE_CHECKING:
    from provision.steps.base import Context

State = Literal["absent", "same", "older", "newer", "other"]


@dataclass(frozen=True)
class Shown:
    """What is installed. `other` is a version of which nobody can tell whether it came before."""

    state: State
    version: str = ""
    file: Path | None = None


def shown(package: Package, context: Context) -> Shown:
    """What the machine has of a package; `absent` where the release needs no such package."""
    if wanted(package, context) is None:
        return Shown("absent")
    version, file = _version(package, context)
    if version is None:
        return Shown("absent")
    pinned = known(context).get(package.pin, version)
    return Shown(_state(version, pinned), version, file)


def installed_version(package: Package, context: Context) -> str:
    """The version that the machine has, whatever this release needs; "" for none."""
    return _version(package, context)[0] or ""


def _state(version: str, pinned: str) -> State:
    if version == pinned or same_release(version, pinned):
        return "same"
    order = compare(version, pinned)
    return {-1: "older", 1: "newer"}.get(order, "other") if order is not None else "other"  # type: ignore[return-value]


def _version(package: Package, context: Context) -> tuple[str | None, Path | None]:
    if package.module:
        return module_version(package.module)
    if package.distribution:
        return _distribution(package.distribution, context)
    if package.shows is None:
        return None, None
    file = Path(filled(package.shows, known(context)))
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None, None
    match = re.search(rf"^{re.escape(package.key)}\s*[=:]\s*(\S+)", text, re.MULTILINE)
    return (match[1], file) if match else (None, None)


def module_version(name: str) -> tuple[str | None, Path | None]:
    """The version of a module's file for the kernel that runs; it need not be loaded yet."""
    for file in sorted(Path("/lib/modules", os.uname().release).rglob(f"{name}.ko*")):
        if version := modinfo.read(file).get("version"):
            return version, file
    return None, None


def _distribution(name: str, context: Context) -> tuple[str | None, Path | None]:
    folder = context.site.site_packages
    there = installed(folder) if folder else {}
    return next(((version, path / "RECORD") for (one, version), path in there.items()
                 if one == normal(name)), (None, None))  # fmt: skip
