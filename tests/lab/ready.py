"""What the lab needs of a person's machine: all that is missing is told before anything is made."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from provision.container.engine import connect
from provision.errors import PaddockError
from provision.words import text
from tests.lab.boxes.image import is_prepared
from tests.lab.machine import CERTIFICATES

# What has to be there, and the Debian package that it comes with: to reach a machine, to make one,
# and to make the first image of all.
_REACH = {"docker": "docker.io"}
_MAKE = {"gcc": "gcc", "makeself": "makeself", "dpkg-deb": "dpkg", "git": "git",
         str(CERTIFICATES): "ca-certificates"}  # fmt: skip
_FIRST = {"mmdebstrap": "mmdebstrap", "/usr/lib/apt/apt-helper": "apt"}


def check(*, makes: bool) -> None:
    """Raises PaddockError `lab-needs`; `makes` is whether a machine may have to be made."""
    if lacks := dict(_lacks(makes=makes)):
        reason = text("plan.comma").join(lacks)
        raise PaddockError("lab-needs", tuple(lacks.values()), reason=reason)


def _lacks(*, makes: bool) -> Iterator[tuple[str, str]]:
    """What is missing, by its short name, and what to do about it."""
    lost = _engine()
    first = makes and (lost is not None or not is_prepared())
    wanted = {**_REACH, **(_MAKE if makes else {}), **(_FIRST if first else {})}
    missing = [name for name in wanted if not _is_there(name)]
    if missing:
        names, packages = " ".join(missing), " ".join(wanted[one] for one in missing)
        yield names, text("lab.lacks.programs", names=names, packages=packages)
    if lost and "docker" not in missing:
        yield text("lab.lacks.engine"), f"{lost.part('what')} {lost.part('do')}"
    if first and os.geteuid() != 0:
        yield "root", text("lab.lacks.root")


def _is_there(name: str) -> bool:
    """Whether there is a program of this name, or this file."""
    return Path(name).exists() if name.startswith("/") else shutil.which(name) is not None


def _engine() -> PaddockError | None:
    """Why no container engine answers; None where one does."""
    try:
        connect().close()
    except PaddockError as error:
        return error
    return None
