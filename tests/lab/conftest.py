"""Machines for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lab.machine import Machine, fresh_machine


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """A fresh machine that the tests of one file share, in their order."""
    with fresh_machine() as running:
        yield running
