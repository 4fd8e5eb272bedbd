"""Logs to explain."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from checks.explain import search
from checks.logs.scan import Scan

Explain = Callable[..., Scan]


@pytest.fixture
def explained(tmp_path: Path) -> Explain:
    """Search a log that holds these bytes, under this name."""

    def run(data: bytes, name: str = "run.log") -> Scan:
        path = tmp_path / name
        path.write_bytes(data)
        return search([str(path)])

    return run
