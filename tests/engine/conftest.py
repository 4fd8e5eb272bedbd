"""The package index of these tests, and a small machine for each of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.world import World, wheel
from tests.frame.index import Index, served

WHEELS = (("alpha", "1.0"), ("alpha", "2.0"), ("beta", "1.0"))


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """An index on loopback with two tiny packages, one of them in two versions."""
    folder = tmp_path_factory.mktemp("wheels")
    with served([wheel(folder, name, version) for name, version in WHEELS]) as running:
        yield running


@pytest.fixture
def world(tmp_path: Path, index: Index) -> World:
    """A machine on which nothing was provisioned yet."""
    return World(tmp_path, index)


@pytest.fixture(scope="session")
def provisioned(tmp_path_factory: pytest.TempPathFactory, index: Index) -> Path:
    """The folder of a world after a run; beside it, in `kept`, a copy."""
    folder = tmp_path_factory.mktemp("ready") / "world"
    World(folder, index).good()
    shutil.copytree(folder, folder.with_name("kept"), symlinks=True)
    return folder


@pytest.fixture
def ready(provisioned: Path, index: Index) -> World:
    """A machine on which the small stack was provisioned. Its paths are the same in each test."""
    shutil.rmtree(provisioned)
    shutil.copytree(provisioned.with_name("kept"), provisioned, symlinks=True)
    return World(provisioned, index)
