"""A copy of the launcher with a small lock and a task file that tells how it was started."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from provision.paths import ROOT
from tests.frame import debian
from tests.frame.index import Index, lock_for, served, tiny_wheel
from tests.lab.needs import needs, succeeds

BASE = Path(os.path.realpath(sys._base_executable))  # type: ignore[attr-defined]
TELL = """
import json, os, sys
if sys.argv[1:2] == ["exit"]:
    sys.exit(int(sys.argv[2]))
import tiny
from provision.called import called
told = {"argv": sys.argv[1:], "prefix": sys.prefix, "cwd": os.getcwd(), "pid": os.getpid(),
        "called": called()}
print(json.dumps(told))
"""


@dataclass
class Launcher:
    """A checkout in `root`, a user's home, a PATH with few programs, and an index for it all."""

    root: Path
    home: Path
    programs: Path
    index: Index
    variables: dict[str, str] = field(default_factory=dict)

    def environment(self, **more: str) -> dict[str, str]:
        own = {"HOME": str(self.home), "PATH": str(self.programs), "LANG": "C.UTF-8"}
        return {**own, "PADDOCK_INDEX_URL": self.index.url, **self.variables, **more}

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        """Start `./paddock` from the home folder; `more` are variables."""
        return subprocess.Popen(
            [str(self.root / "paddock"), *arguments], cwd=self.home, text=True,
            env=self.environment(**more), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run `./paddock` to its end, two minutes at most."""
        with self.start(*arguments, **more) as process:
            out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def told(self, *arguments: str, **more: str) -> dict[str, Any]:
        """What the task file tells of a start that must succeed."""
        done = self.run(*arguments, **more)
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    @property
    def tool(self) -> Path:
        """Where the environments are."""
        return self.home / ".cache" / "paddock" / "tool"

    def add_program(self, name: str, target: str | Path) -> None:
        """Put a link on PATH."""
        (self.programs / name).unlink(missing_ok=True)
        (self.programs / name).symlink_to(target)

    def add_script(self, name: str, text: str) -> None:
        """Put a shell script on PATH."""
        (self.programs / name).unlink(missing_ok=True)
        (self.programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.programs / name).chmod(0o755)


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What the index has: a package of our own."""
    return [tiny_wheel(tmp_path_factory.mktemp("wheels"))]


@pytest.fixture
def index(wheels: list[Path]) -> Iterator[Index]:
    with served(wheels) as running:
        yield running


def copy_checkout(root: Path) -> None:
    """The files of the launcher and the bootstrap, as a checkout has them."""
    left_out = shutil.ignore_patterns("__pycache__")
    for name in ("provision", "templates"):
        shutil.copytree(ROOT / name, root / name, ignore=left_out)
    shutil.copy2(ROOT / "paddock", root / "paddock")


@pytest.fixture
def bare(tmp_path: Path, index: Index, wheels: list[Path]) -> Launcher:
    """A machine with Python but without uv; blanks and Chinese characters in each path."""
    needs(succeeds(str(BASE), "-c", "import ensurepip"), "ensurepip (Debian: python3-venv)")
    root, home, programs = (tmp_path / name for name in ("检出 of it", "home 家", "bin"))
    for path in (home, programs):
        path.mkdir()
    copy_checkout(root)
    (root / "requirements.lock").write_text(lock_for(*wheels))
    (root / "tasks.py").write_text(TELL)
    launcher = Launcher(root, home, programs, index)
    for name in ("cat", "cksum", "readlink", "sh"):
        launcher.add_program(name, str(shutil.which(name)))
    launcher.add_program("python3", BASE)
    return launcher


@pytest.fixture
def quick(bare: Launcher) -> Launcher:
    """The same with uv on it, which takes a tenth of the time."""
    import uv

    bare.add_program("uv", uv.find_uv_bin())
    return bare


@pytest.fixture(scope="session")
def no_ensurepip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python as a bare Debian has it."""
    return debian.python(BASE, tmp_path_factory.mktemp("debian python"))


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What apt downloads: a package with this machine's own pip wheel."""
    needs(shutil.which("dpkg-deb") is not None, "dpkg-deb, to make a package")
    return debian.package(tmp_path_factory.mktemp("package"))


@pytest.fixture
def stripped(bare: Launcher, no_ensurepip: Path, package: Path) -> Launcher:
    """A bare Debian: no uv, no ensurepip, and an apt-get that has never fetched its lists."""
    bare.add_program("python3", no_ensurepip)
    for name in ("cp", "dpkg", "dpkg-deb", "mkdir", "tar"):
        bare.add_program(name, str(shutil.which(name)))
    debian.add_apt(bare.programs, package)
    return bare


@pytest.fixture(params=["quick", "bare", "stripped"])
def launcher(request: pytest.FixtureRequest) -> Launcher:
    """With uv, with Python's own pip and with Debian's, for what depends on the installer."""
    chosen: Launcher = request.getfixturevalue(request.param)
    return chosen
