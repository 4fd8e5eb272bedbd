"""A healthy machine of our own."""

from __future__ import annotations

import pytest

from provision.facts.snapshot import Facts
from provision.stack import load, stack_file
from tests.doctor.values import (
    COMPARISON,
    COMPILER,
    ENVIRONMENT,
    LEFTOVER,
    LIMITS,
    LINKAGE,
    MACHINE,
    PLUGIN,
    PYTHON,
    ROOM,
    SETTINGS,
)


@pytest.fixture(scope="session")
def healthy() -> Facts:
    """The facts of a machine on which every check holds."""
    return Facts(
        "loopback", "loopback", load(stack_file("loopback")), MACHINE, [ROOM], PYTHON, COMPILER,
        SETTINGS, [], ENVIRONMENT, COMPARISON, PLUGIN, LEFTOVER, limits=LIMITS,
        linkage=[LINKAGE],
    )  # fmt: skip
