"""A run that is interrupted, killed or met by another: nothing stays behind, and it goes on."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from provision.errors import BUSY, INTERRUPTED
from tests.engine.world import STEPS, World, gone, kill

SEED = 20
KILLS = 20


@contextmanager
def hanging(world: World, how: str = "hang") -> Iterator[subprocess.Popen[str]]:
    """A run that hangs in `lib/build`, with all done that goes on beside it."""
    process = world.start(SMALL_BUILD=how)
    try:
        world.wait_for("hanging" if how == "hang" else how, "env/beta")
        yield process
    finally:
        process.kill()
        process.communicate(timeout=20)


def is_interrupted(world: World, process: subprocess.Popen[str]) -> None:
    """The run says so with its status and sentences, its children are gone, the journal knows."""
    _, errors = process.communicate(timeout=20)
    assert process.returncode == INTERRUPTED, errors
    assert errors.splitlines()[0].startswith("x Interrupted")
    assert len(errors.splitlines()) == 3
    assert world.last()["lib/build"] == "interrupted"
    assert gone(world, 0)


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_the_run_and_its_children_and_the_next_goes_on(
    world: World, number: signal.Signals
) -> None:
    with hanging(world) as process:
        process.send_signal(number)
        is_interrupted(world, process)
    count = len(world.entries())
    world.good()
    assert world.ran(count) == ["lib/build", "lib/install"]


@pytest.mark.slow
def test_control_c_twice_and_a_child_that_does_not_listen(world: World) -> None:
    with hanging(world, "deaf") as process:
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        assert process.returncode == INTERRUPTED
        assert "Traceback" not in errors
        assert gone(world)
    world.good()


def test_a_second_run_meanwhile_is_told_of_the_first(world: World) -> None:
    with hanging(world) as process:
        for arguments in ([], ["--undo"]):
            second = world.run(*arguments)
            assert second.returncode == BUSY, second.stderr
            assert f"process {process.pid}" in second.stderr
        assert world.run("--dry-run").returncode == 0
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        is_interrupted(world, process)


@pytest.mark.slow
def test_under_nohup_a_closed_terminal_ends_nothing(world: World) -> None:
    process = subprocess.Popen(
        ["nohup", *world.command()], env=world.environment({"SMALL_BUILD": "hang"}), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    world.wait_for("hanging")
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=1)
    process.send_signal(signal.SIGINT)
    is_interrupted(world, process)


@pytest.mark.slow
def test_what_a_killed_run_left_running_is_ended_by_the_next(world: World) -> None:
    with hanging(world) as process:
        kill(process)
        assert any("uv" in line for line in world.marked())
        assert world.last()["lib/build"] == "start"
        world.good()
        assert gone(world, 0)


def state(world: World) -> dict[str, str]:
    """Every file that a run makes for use, with the hash of its content.

    uv notes the time of a wheel that it installed from a file, in `uv_cache.json`.
    """
    found = {}
    for top in (world.env, world.home / "data" / "wheels"):
        for path in sorted(top.rglob("*")):
            if path.is_symlink():
                found[str(path)] = str(path.readlink())
            elif path.is_file() and "__pycache__" not in path.parts:
                lines = [] if path.name == "uv_cache.json" else path.read_bytes().splitlines()
                content = b"\n".join(line for line in lines if b"uv_cache.json" not in line)
                found[str(path)] = hashlib.sha256(content).hexdigest()
    return found


@pytest.mark.slow
def test_killed_at_random_points_it_always_reaches_the_same_state(world: World) -> None:
    began = time.monotonic()
    world.good()
    length = time.monotonic() - began
    wanted = state(world)
    assert len(wanted) > 20
    draw = random.Random(SEED)  # noqa: S311 - points in time, no secrets
    cut_short = 0
    for number in range(KILLS):
        shutil.rmtree(world.home)
        process = world.start()
        time.sleep(draw.uniform(0.1, length))
        cut_short += process.poll() is None
        kill(process)
        world.good()
        assert state(world) == wanted, f"kill {number}"
        assert set(world.last()) == set(STEPS)
        assert set(world.last().values()) == {"done"}
        assert gone(world, 0)
        assert not list((world.home / "data").rglob("*.new"))
    assert cut_short >= KILLS // 2
