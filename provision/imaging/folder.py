"""What a build of an image reads, gathered in one folder."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

from provision.errors import PaddockError
from provision.forms.commands import packages
from provision.forms.dockerfile import split
from provision.forms.wanted import Wanted
from provision.paths import ROOT
from provision.site import Site
from provision.steps import KINDS
from provision.vendor import deps, look, trust
from provision.vendor.public import published
from provision.vendor.rows import Package
from provision.words import text

_FILES = ("paddock", "requirements.lock", "tasks.py")
_FOLDERS = ("provision", "checks", "templates", "images")


def gather(folder: Path, wanted: Wanted, given: Path | None, dockerfile: str) -> None:
    """Fill a new folder with the tool, the target, the vendors' packages and the Dockerfile.

    Raises PaddockError `image-package` for a package that is not there, and as `fill` does.
    """
    lacks = fill(folder, wanted, given)
    (folder / "Dockerfile").write_text(dockerfile, encoding="utf-8")
    for name, row in lacks:
        told = text("package.from", file=name, vendor=row.vendor, where=row.where)
        raise PaddockError("image-package", (told,), file=name, target=wanted.stack.target)


def fill(folder: Path, wanted: Wanted, given: Path | None) -> list[tuple[str, Package]]:
    """Fill a new folder with the tool, the target and the vendors' packages.

    Returns the packages that are wanted and not there. Raises PaddockError `no-checkout` in an
    installed wheel, `package-*`; OSError.
    """
    if not all((ROOT / name).is_file() for name in _FILES):
        raise PaddockError("no-checkout", folder=ROOT)
    folder.mkdir()
    for name in _FILES:
        shutil.copy2(ROOT / name, folder / name)
    for name in _FOLDERS:
        _copy(ROOT / name, folder / name)
    own = folder / "images" / wanted.stack.target
    if own.resolve() != wanted.folder.resolve():
        shutil.rmtree(own, ignore_errors=True)  # a stack of the user's own takes its place
        _copy(wanted.folder, own)
    return _packages(folder / "packages", wanted, given)


def _copy(source: Path, target: Path) -> None:
    # What tools keep there for themselves is none of it, and would spoil the engine's own cache.
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc", ".*"),
                    ignore_dangling_symlinks=True)  # fmt: skip


def _packages(folder: Path, wanted: Wanted, given: Path | None) -> list[tuple[str, Package]]:
    """The vendors' packages that the steps of the image need, each looked at, and its digest, too.

    Returns those that are not there. A step that looks at the machine first may find what it wants
    in an image of the person's own: its package is none of them.
    """
    context = replace(wanted.context, deps=given, site=Site(wanted.stack.target))
    folder.mkdir()
    lacks = []
    for step in split(wanted)[0]:
        may_hold = bool(wanted.base) and KINDS[step.kind].by_machine
        for name, _, _, row in packages(step, wanted):
            found = deps.find(row, context)
            if found:
                look.checked(found)
            if found and found.archive and KINDS[step.kind].by_machine:
                _link(found.archive, folder)
            elif found and not found.archive:
                trust.checked(found.path, row, context.site, published(wanted.folder))
                _link(found.path, folder)
            elif not may_hold:
                lacks.append((name, row))
    return lacks


def _link(file: Path, folder: Path) -> None:
    """The file in the folder, without a copy where one disk has both: it may have gigabytes."""
    target = folder / file.name
    if target.exists():
        return
    try:
        os.link(file, target)
    except OSError:
        shutil.copy2(file, target)
