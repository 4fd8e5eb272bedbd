"""A whole run on the small stack: what it does, what it does again, and what it leaves alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from provision.errors import MACHINE, USAGE
from tests.conftest import run_cli
from tests.engine.world import STEPS, World, tree


def installed(world: World, name: str) -> list[str]:
    """The folders of metadata that a distribution has in the environment."""
    return [path.name for path in world.env.glob(f"lib/*/site-packages/{name}-*.dist-info")]


def document(world: World, *arguments: str) -> Any:
    """The JSON document of a run."""
    return json.loads(world.good("--json", *arguments))


def test_the_first_run_does_all_and_the_second_nothing(world: World) -> None:
    out = world.good()
    assert sum("  + " in line for line in out.splitlines()) == len(STEPS)
    assert sorted(world.ran()) == sorted(STEPS)
    assert all(installed(world, name) for name in ("alpha", "beta", "gamma"))
    before = tree(world.folder)
    assert "nothing to do" in world.good()
    after = tree(world.folder)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert changed <= {"home/state/small/owner", "home/state/small/lock"}


def test_independent_steps_overlap_and_dependent_ones_do_not(world: World) -> None:
    world.good()
    at = {(entry["step"], entry["event"]): n for n, entry in enumerate(world.entries())}
    both = [at[f"env/{name}", "start"] for name in ("alpha", "beta")]
    assert max(both) < min(at[f"env/{name}", "done"] for name in ("alpha", "beta"))
    assert at["env/python", "done"] < min(both)
    assert at["env/alpha", "done"] < at["lib/build", "start"]
    assert at["lib/build", "done"] < at["lib/install", "start"]


def new_pin(world: World) -> None:
    world.pin("framework", "alpha-2.0")


def new_source(world: World) -> None:
    (world.stack.parent / "source" / "gamma.py").write_text("ANSWER = 43\n")


def moved_source(world: World) -> None:
    source = world.stack.parent / "source"
    (source / "a").mkdir()
    (source / "a" / "x.txt").write_text("")
    world.good()
    (source / "a").rename(source / "b")


def without(pattern: str) -> Callable[[World], None]:
    """Removes the files of this pattern."""

    def remove(world: World) -> None:
        found = list(world.home.glob(pattern))
        assert found
        for path in found:
            path.unlink()

    remove.__name__ = pattern.rpartition("/")[2]
    return remove


SITE = "data/envs/small/lib/*/site-packages"


@pytest.mark.parametrize(
    ("change", "redone"),
    [
        (new_pin, {"env/alpha", "lib/build", "lib/install"}),
        pytest.param(new_source, {"lib/build", "lib/install"}, marks=pytest.mark.slow),
        pytest.param(moved_source, {"lib/build", "lib/install"}, marks=pytest.mark.slow),
        (without(f"{SITE}/alpha-*/RECORD"), {"env/alpha"}),
        (without(f"{SITE}/gamma-*/RECORD"), {"lib/install"}),
        (without("data/wheels/small/lib/build/*.whl"), {"lib/build"}),
        (without("data/envs/small/bin/python"), set(STEPS)),
        pytest.param(without("data/envs/small/pyvenv.cfg"), set(STEPS), marks=pytest.mark.slow),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_change_redoes_just_what_depends_on_it(
    ready: World, change: Callable[[World], None], redone: set[str]
) -> None:
    whole = set(installed(ready, "*"))
    change(ready)
    before = len(ready.entries())
    document_ = document(ready)
    assert set(ready.ran(before)) == redone == set(document_["ran"])
    assert "nothing to do" in ready.good()
    if change is new_pin:
        assert installed(ready, "alpha") == ["alpha-2.0.dist-info"]
    else:
        assert set(installed(ready, "*")) == whole


def test_a_step_alone_needs_what_it_needs(world: World) -> None:
    refused = world.run(only="lib/build")
    assert refused.returncode == MACHINE
    assert "env/alpha" in refused.stderr
    assert not world.env.exists()


def test_from_and_only_choose_steps(ready: World) -> None:
    count = len(ready.entries())
    ready.good("--from", "lib/build")
    assert ready.ran(count) == ["lib/build", "lib/install"]
    count = len(ready.entries())
    ready.good("--from", "env/beta", only="env/beta")
    assert ready.ran(count) == ["env/beta"]


def test_a_dry_run_shows_all_and_writes_nothing(world: World) -> None:
    before = tree(world.folder)
    out = world.good("--dry-run")
    assert tree(world.folder) == before
    assert all(step in out for step in STEPS)
    assert '"$UV" venv' in out


def test_a_dry_run_changes_nothing_of_what_is_there(ready: World) -> None:
    ready.pin("framework", "alpha-2.0")
    before = tree(ready.folder)
    plan = document(ready, "--dry-run")
    assert tree(ready.folder) == before
    states = {step["name"]: step["state"] for step in plan["steps"]}
    assert [name for name in STEPS if states[name] == "satisfied"] == ["env/python", "env/beta"]


def test_json_documents_name_their_schema(world: World) -> None:
    first = document(world)
    assert first["schema"] == "paddock/provision/1"
    assert (first["changed"], set(first["ran"])) == (True, set(STEPS))
    second = document(world)
    assert second["schema"] == "paddock/provision/1"
    assert (second["changed"], second["ran"], second["steps"]) == (False, [], len(STEPS))
    assert document(world, "--dry-run")["schema"] == "paddock/plan/1"
    refused = world.run("--json", "--from", "env/alfa")
    error = json.loads(refused.stdout)
    assert error["schema"] == "paddock/error/1"
    assert error["status"] == refused.returncode == USAGE
    assert document(world, "--undo")["schema"] == "paddock/undo/1"


def test_undo_removes_all_that_was_made_and_a_new_run_works(ready: World) -> None:
    for left in (ready.env.with_name("small.new"), ready.env.with_name(".small.removed-1")):
        left.mkdir()  # as a killed run and a killed undo leave them
    assert str(ready.env) in ready.good("--undo")
    assert not [path for path in (ready.home / "data").rglob("*") if path.is_file()]
    assert not list((ready.home / "data" / "envs").iterdir())
    assert not (ready.home / "cache" / "build" / "small").exists()
    assert set(ready.last().values()) == {"undone"}
    ready.good("--undo")
    count = len(ready.entries())
    ready.good()
    assert sorted(ready.ran(count)) == sorted(STEPS)


@pytest.mark.slow
def test_a_run_cut_short_in_the_middle_of_a_file_operation_goes_on(ready: World) -> None:
    """Half an environment beside the real one, and metadata without the RECORD that ends it."""
    half = ready.env.with_name("small.new")
    (half / "bin").mkdir(parents=True)
    (half / "bin" / "python").write_text("half")
    lost = next(ready.env.glob("lib/*/site-packages")) / "alpha-0.9.dist-info"
    lost.mkdir()
    (lost / "METADATA").write_text("Name: alpha\nVersion: 0.9\n")
    ready.pin("framework", "alpha-2.0")
    ready.good()
    assert installed(ready, "alpha") == ["alpha-2.0.dist-info"]
    ready.good("--from", "env/python")
    assert not half.exists()


@pytest.mark.parametrize(
    ("arguments", "name", "nearest"),
    [
        (["provision", "--target", "loopbak"], "loopbak", "loopback"),
        (
            ["provision", "--target", "loopback", "--release", "3.3.2", "--dry-run"],
            "3.3.2",
            "3.3.1",
        ),
        (
            ["provision", "--target", "loopback", "--only", "plugin/bild"],
            "plugin/bild",
            "plugin/build",
        ),
        (["provision", "--target", "loopback", "--from", "ops/buidl"], "ops/buidl", "ops/build"),
        (["build-ops", "--backend", "loopbck"], "loopbck", "loopback"),
        (["provision", "--target", "../../etc"], "../../etc", ""),
        (["provision", "--target", ""], "", ""),
        (["provision", "--target", "910b"], "910b", "ascend910b"),
        (["provision", "--target", "S60."], "S60.", "s60"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(
    home: Path, arguments: list[str], name: str, nearest: str
) -> None:
    done = run_cli(home, *arguments)
    assert done.returncode == USAGE, done.stdout + done.stderr
    assert (f"`{name}`" if name else "(empty)") in done.stderr
    assert f"nearest: {nearest}." in done.stderr or not nearest
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--jobs", "-1"],
        ["--jobs", "-2147483649"],
        ["--ca-bundle", "/nowhere.pem"],
        ["--ca-bundle", "/"],
        ["--index-url", "ftp://user:word@host/"],
        ["--index-url", "user:word@host"],
    ],
)
def test_an_impossible_option_is_refused(world: World, arguments: list[str]) -> None:
    done = world.run(*arguments)
    assert done.returncode == USAGE, done.stdout + done.stderr
    assert arguments[0] in done.stderr
    assert "word" not in done.stderr or "://" not in arguments[1]
    assert not world.home.exists()


def test_a_stack_of_ones_own_lives_under_its_own_name(world: World) -> None:
    stack = ["provision", "--stack", str(world.stack), "--only", "env/python"]
    done = run_cli(world.home, *stack, "--target", "loopback")
    assert done.returncode == USAGE
    assert "small" in done.stderr
    done = run_cli(world.home, *stack)
    assert done.returncode == 0, done.stderr
    assert world.env.exists()
    assert not world.env.with_name("loopback").exists()
