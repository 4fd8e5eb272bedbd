"""Machines for the tests of this folder."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.boxes.box import Box, start
from tests.lab.machine import Machine, fresh_machine, packed_clone


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """A fresh machine that the tests of one file share, in their order."""
    with fresh_machine() as running:
        yield running


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of this checkout that boxes share, and the compiled files that they make."""
    folder = tmp_path_factory.mktemp("clone")
    folder.chmod(0o755)
    subprocess.run(["tar", "-x", "-C", folder], input=packed_clone(), check=True)
    return folder


@pytest.fixture(scope="module")
def healthy(request: pytest.FixtureRequest, clone: Path) -> Iterator[Box]:
    """The healthy box of the vendor that a file of tests names as VENDOR."""
    with start(request.module.VENDOR, checkout=clone) as box:
        yield box
