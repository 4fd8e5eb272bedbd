"""Kind `toolchain`: a C++17 compiler on the host, from the system's package manager."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from provision.facts.compilers import compiler
from provision.stack import Step
from provision.steps.base import Context, Kind, Lack, NotSo

# Package manager -> what to install. Debian's g++ and libc6-dev come as one dependency chain.
PACKAGES = {"apt-get": ["g++"], "dnf": ["gcc-c++"], "yum": ["gcc-c++"]}


def manager() -> str | None:
    """The package manager of this host that the tool can use."""
    return next((name for name in PACKAGES if shutil.which(name)), None)


def remedy() -> str:
    """The command that installs a compiler, or what to install where no manager is known."""
    return f"sudo {_install()}" if manager() else "g++ / clang++ (C++17)"


def _install() -> str:
    found = manager() or "apt-get"
    return f"{found} install {' '.join(PACKAGES[found])}"


class Toolchain(Kind):
    """Satisfied by any C++17 compiler on PATH, whoever installed it."""

    template = "steps/toolchain.sh.j2"
    by_machine = True

    @property
    def changes_host(self) -> str:
        """The command, in short."""
        return _install()

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """The manager and its package names; `record` gets the packages that were new."""
        found = manager() or "apt-get"
        return {"manager": found, "packages": PACKAGES[found], "record": context.site.toolchain}

    def verify(self, step: Step, context: Context) -> list[Path]:
        """The compiler found."""
        if found := compiler():
            return [found]
        raise NotSo("c++")

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """Where only root may install packages: the command to type."""
        return None if os.geteuid() == 0 and manager() else Lack("no-compiler", remedy())
