"""The small source tree as a repository, and the two ways to build from it."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import run_cli, shared_home
from tests.lab.needs import needs
from tests.recipes.upstream import git, upstream

Build = Callable[..., "subprocess.CompletedProcess[str]"]
PADDLE = "3.3.1"  # the lock has it


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with its submodules, in a folder whose name needs quoting; no test changes it."""
    return upstream(tmp_path_factory.mktemp("源 码"))


@pytest.fixture
def tree(whole: Path, tmp_path: Path) -> Path:
    """A clone of the test's own."""
    return Path(shutil.copytree(whole, tmp_path / "源 码" / whole.name, symlinks=True))


@pytest.fixture
def stripped(tree: Path) -> Path:
    """A clone whose submodules are recorded, and nowhere to be had."""
    shutil.rmtree(tree / "Paddle")
    (tree / "Paddle").mkdir()
    shutil.rmtree(tree / ".git" / "modules")
    git(tree, "config", "submodule.Paddle.url", str(tree / "nowhere"))
    return tree


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Run `build-ops` in a home of this test alone; the Pythons with Paddle are shared."""
    header = Path(sysconfig.get_config_var("INCLUDEPY") or "/") / "Python.h"
    needs(header.is_file(), "the headers of this Python (Debian: python3-dev)")
    home = tmp_path / "ho me"
    pythons = shared_home("build") / "pythons"
    pythons.mkdir(exist_ok=True)
    (home / "cache").mkdir(parents=True)
    (home / "cache" / "pythons").symlink_to(pythons)
    return functools.partial(run_cli, home, "build-ops")


def wheel_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The wheel that `build-ops --json` tells of."""
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "paddock/wheels/1"
    (wheel,) = document["wheels"]
    assert Path(wheel["path"]).stat().st_size == wheel["bytes"]
    found: dict[str, Any] = wheel
    return found
