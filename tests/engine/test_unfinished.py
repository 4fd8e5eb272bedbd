"""A cut-short undo or run is told by the next run of either kind, and by `status`."""

from __future__ import annotations

import json

import pytest
from filelock import FileLock

from checks import containers
from provision.container import box, engine
from provision.errors import PaddockError
from provision.journal import Journal
from provision.site import Site
from tests.engine.world import World

SAID = "an undo was begun here and did not end"


SLOW = [pytest.param(one, marks=pytest.mark.slow) for one in (("--json",), ("--undo", "--dry-run"))]


@pytest.mark.parametrize("arguments", [(), ("--undo",), *SLOW])
def test_the_next_run_says_so(world: World, arguments: tuple[str, ...]) -> None:
    journal = Journal(world.state / "journal.jsonl")
    for step in ("env/alpha", "lib/build"):
        journal.record(step, "removing", "key")
    done = world.run(
        *arguments, "--offline", only="env/python" if "--undo" not in arguments else ""
    )
    assert done.returncode == 0, done.stderr
    told = done.stderr if "--json" in arguments else done.stdout
    assert f"env/alpha, lib/build: {SAID}" in told
    if arguments == ("--undo",):
        assert set(world.last().values()) == {"undone"}
        assert SAID not in world.good("--undo", only="")


@pytest.fixture
def cut_short(home: object) -> Site:
    """A home in which one run and one undo were cut short."""
    for target, event in (("one", "start"), ("two", "removing"), ("three", "undone")):
        Journal(Site(target).journal).record("host/driver", event, "key")  # type: ignore[arg-type]
    return Site("two")


def test_status_tells_it(
    cut_short: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine, "connect", lambda: None)
    monkeypatch.setattr(box, "ours", lambda client: [])
    assert containers.status(json=False) == 0
    said = capsys.readouterr().out
    assert "one: a run was cut short in host/driver" in said
    assert "two: an undo was begun in host/driver" in said and "three" not in said
    with FileLock(cut_short.state / "lock"):
        containers.status(json=True)
    rows = json.loads(capsys.readouterr().out)["unfinished"]
    assert rows == [{"target": "one", "what": "run", "steps": ["host/driver"]}], "two is at work"


def test_status_tells_it_also_without_an_engine(
    cut_short: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent() -> None:
        raise PaddockError("engine-absent")

    monkeypatch.setattr(engine, "connect", absent)
    with pytest.raises(PaddockError) as caught:
        containers.status(json=False)
    assert any("two: an undo" in line for line in caught.value.details)
