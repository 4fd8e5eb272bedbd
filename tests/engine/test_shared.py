"""A distribution that two layers pin: the step that comes first has it, whichever ran last."""

from __future__ import annotations

import pytest

from tests.engine.world import World
from tests.frame.index import lock_for


@pytest.fixture
def shared(world: World) -> World:
    """A world whose second layer pins what the first has, too."""
    lock = world.stack.parent / "locks" / "1" / "paddlenlp.txt"
    wheel = next(path for path in world.index.wheels if path.name.startswith("alpha-1.0"))
    lock.write_text(lock_for(wheel) + lock.read_text("utf-8"), "utf-8")
    return world


def test_steps_that_run_one_by_one_leave_each_other_alone(shared: World) -> None:
    """As in the layers of an image."""
    for only in ("env/python", "env/alpha", "env/beta"):
        shared.good(only=only)
    assert "nothing to do" in shared.good(only="env/python,env/alpha,env/beta")


def test_when_it_was_damaged_the_runs_come_to_an_end(shared: World) -> None:
    shared.good()
    (record,) = shared.env.glob("lib/python*/site-packages/alpha-1.0.dist-info/RECORD")
    record.write_text(record.read_text("utf-8") + "\n", "utf-8")
    shared.good()
    shared.good()
    assert "nothing to do" in shared.good()
