"""An engine and a registry of the tests' own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provision.container.engine import connect
from tests.container.engine import Engine, busy_image, engine
from tests.container.registry import Registry, registry


@pytest.fixture(scope="session")
def running() -> Iterator[Engine]:
    """An engine with the image `busy:1`."""
    with engine() as made:
        busy_image(made)
        yield made


@pytest.fixture
def client(running: Engine, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of that engine, in a home of the test's own; its containers are gone after."""
    assert not home.exists()
    monkeypatch.setenv("DOCKER_HOST", running.host)
    monkeypatch.delenv("UV_CACHE_DIR")
    running.answers()
    made = connect()
    yield made
    for one in made.containers.list(all=True):
        one.remove(force=True)


@pytest.fixture(scope="session")
def images() -> Iterator[Registry]:
    """A registry."""
    with registry() as made:
        yield made
