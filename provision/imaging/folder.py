"""What a build of an image reads, gathered in one folder."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from provision.errors import PaddockError
from provision.forms.commands import packages
from provision.forms.dockerfile import split
from provision.forms.wanted import Wanted
from provision.paths import ROOT
from provision.site import Site
from provision.vendor import deps, trust
from provision.words import text

_FILES = ("paddock", "requirements.lock", "tasks.py")
_FOLDERS = ("provision", "checks", "templates", "images")


def gather(folder: Path, wanted: Wanted, given: Path | None, dockerfile: str) -> None:
    """Fill a new folder with the tool, the target, the vendors' packages and the Dockerfile.

    Raises PaddockError `no-checkout` in an installed wheel, `package-*`; OSError.
    """
    if not all((ROOT / name).is_file() for name in _FILES):
        raise PaddockError("no-checkout", folder=ROOT)
    folder.mkdir()
    (folder / "Dockerfile").write_text(dockerfile, encoding="utf-8")
    for name in _FILES:
        shutil.copy2(ROOT / name, folder / name)
    for name in _FOLDERS:
        _copy(ROOT / name, folder / name)
    own = folder / "images" / wanted.stack.target
    if own.resolve() != wanted.folder.resolve():
        shutil.rmtree(own, ignore_errors=True)  # a stack of the user's own takes its place
        _copy(wanted.folder, own)
    _packages(folder / "packages", wanted, given)


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))


def _packages(folder: Path, wanted: Wanted, given: Path | None) -> None:
    """The vendors' packages that the steps of the image need, each after a look at its digest."""
    context = replace(wanted.context, deps=given)
    for step in split(wanted)[0]:
        for name, _, _, row in packages(step, wanted):
            found = deps.find(row, context)
            if found is None or found.archive:
                told = text("package.from", file=name, vendor=row.vendor, where=row.where)
                raise PaddockError("image-package", (told,), file=name, target=wanted.stack.target)
            trust.checked(found.path, row, Site(wanted.stack.target))
            folder.mkdir(exist_ok=True)
            shutil.copy2(found.path, folder / found.path.name)
