"""The locks: they fit pyproject.toml, name no index, and really give the tool's environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from provision.paths import ROOT
from provision.tools import uv
from tests.frame.conftest import BASE

LOCKS = {"requirements.lock": [], "requirements-dev.lock": ["dev"]}


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_is_pinned_by_hash_and_no_index_is_named(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    entries = re.split(r"(?m)^(?=[a-z])", text)[1:]
    assert len(entries) > 10
    for entry in entries:
        assert re.match(r"[a-z0-9-]+==\S+", entry)
        assert "--hash=sha256:" in entry
    assert "://" not in text


@pytest.mark.slow
@pytest.mark.parametrize("name", LOCKS)
def test_the_lock_fits_the_project_file(name: str, tmp_path: Path) -> None:
    """Compiled again with the present pins as preference, nothing changes."""
    for file in ("pyproject.toml", name):
        shutil.copy(ROOT / file, tmp_path)
    groups = [word for group in LOCKS[name] for word in ("--group", group)]
    subprocess.run(
        [uv(), "pip", "compile", "pyproject.toml", "--universal", "--python-version", "3.10",
         "--generate-hashes", "--no-annotate", "--no-header", *groups, "-o", name, "--quiet"],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    own = [line for line in (ROOT / name).read_text("utf-8").splitlines() if line[:1] != "#"]
    assert (tmp_path / name).read_text("utf-8").splitlines() == own


def test_the_lowest_python_is_the_same_everywhere() -> None:
    assert 'requires-python = ">=3.10"' in (ROOT / "pyproject.toml").read_text("utf-8")
    assert "(3, 10)" in (ROOT / "paddock").read_text("utf-8")
    assert "LOWEST = (3, 10)" in (ROOT / "provision" / "bootstrap.py").read_text("utf-8")
    assert "3.10" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_the_whole_tool_starts_from_a_clone(installer: str, tmp_path: Path) -> None:
    """The real lock and the real task file, in a home that has nothing."""
    root = tmp_path / "checkout"
    ignored = shutil.ignore_patterns(".git", "__pycache__", "*.egg-info", ".*_cache")
    shutil.copytree(ROOT, root, ignore=ignored)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("cat", "cksum", "readlink", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))
    (programs / "python3").symlink_to(BASE)
    if installer == "uv":
        (programs / "uv").symlink_to(uv())
    env = {**os.environ, "PATH": str(programs), "PADDOCK_HOME": str(tmp_path / "home")}
    for _ in range(2):
        done = subprocess.run(
            [str(root / "paddock"), "--list"], env=env, capture_output=True, text=True, check=True
        )
        assert "provision" in done.stdout
    python = next((tmp_path / "home/cache/tool").glob("*.*/bin/python"))
    check = [uv(), "pip", "check", "--python", str(python)]
    assert subprocess.run(check, check=False).returncode == 0
