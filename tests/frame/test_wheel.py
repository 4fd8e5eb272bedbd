"""The tool as an installed package: all data inside, nothing else, and it runs from anywhere."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from provision.paths import ROOT
from provision.tools import uv

pytestmark = pytest.mark.slow
PARTS = ("provision", "checks", "images", "templates")


def shipped(root: Path) -> dict[str, str]:
    """Every file that the wheel of this checkout must have, with its digest."""
    files = [path for part in PARTS for path in (root / part).rglob("*") if path.is_file()]
    kept = [path for path in files if path.parent.name != "__pycache__"]
    return {
        f"paddock/{path.relative_to(root)}": digest(path.read_bytes())
        for path in [root / "tasks.py", *kept]
    }


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def files_of(wheel: Path) -> dict[str, str]:
    """The files of a wheel with their digests, without the packager's own."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        return {name: digest(archive.read(name)) for name in names}


def built(folder: Path, *what: str) -> Path:
    """The one file that `uv build` makes in `folder`."""
    subprocess.run([uv(), "build", "--quiet", *what, "-o", str(folder)], check=True)
    (found,) = [path for path in folder.iterdir() if path.name.startswith("paddock-")]
    return found


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout: a build writes beside its sources."""
    copy = tmp_path_factory.mktemp("sources") / "paddock"
    ignored = shutil.ignore_patterns(".git", "*.egg-info", ".*_cache", "build", "dist")
    return Path(shutil.copytree(ROOT, copy, ignore=ignored))


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"), "--wheel", str(checkout))


def test_the_wheel_holds_all_data_and_nothing_else(checkout: Path, wheel: Path) -> None:
    assert files_of(wheel) == shipped(checkout)


def test_the_source_archive_builds_the_same_wheel(checkout: Path, tmp_path: Path) -> None:
    archive = built(tmp_path / "archive", "--sdist", str(checkout))
    assert files_of(built(tmp_path / "wheel", "--wheel", str(archive))) == shipped(checkout)


def installed(folder: Path, *what: str) -> Path:
    """A new environment with the tool in it; returns its folder of programs."""
    subprocess.run([uv(), "venv", "--quiet", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    lock = ["-c", str(ROOT / "requirements.lock")]
    install = [uv(), "pip", "install", "--quiet", "--python", python, *lock, *what]
    subprocess.run(install, check=True)
    return folder / "bin"


def listing(program: Path, cwd: Path, home: Path, *arguments: str) -> str:
    """What this program prints with `--list`, without the environment of the tests."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    argv = [str(program), *arguments]
    return subprocess.check_output(argv, cwd=cwd, env=env, text=True)


def test_the_installed_command_runs_elsewhere(wheel: Path, tmp_path: Path) -> None:
    programs = installed(tmp_path / "环境 of it", str(wheel))
    (tmp_path / "else where").mkdir()
    run = (programs / "paddock", tmp_path / "else where", tmp_path)
    assert "provision" in listing(*run, "--list")
    plan = listing(*run, "provision", "--target", "loopback", "--dry-run", "--json")
    assert '"schema": "paddock/plan/1"' in plan
    packages = next((programs.parent / "lib").glob("python3*/site-packages"))
    ours = [path.name for path in packages.glob("*paddock*")]
    assert sorted(ours) == ["paddock", "paddock-0.1.0.dist-info"]
    assert not (packages / "checks").exists()


def test_an_editable_install_gives_both_commands(checkout: Path, tmp_path: Path) -> None:
    programs = installed(tmp_path / "env", "-e", str(checkout))
    assert "provision" in listing(programs / "paddock", tmp_path, tmp_path, "--list")
    assert "provision" in listing(programs / "invoke", checkout, tmp_path, "--list")
    where = "import paddock.tasks; print(paddock.tasks.__file__)"
    found = listing(programs / "python", tmp_path, tmp_path, "-c", where)
    assert found.strip() == str(checkout / "tasks.py")
