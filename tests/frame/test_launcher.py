"""The launcher: where it looks, how it is started, and that a later start is next to nothing."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from provision.paths import ROOT
from tests.frame.conftest import Launcher


@pytest.mark.slow
def test_first_start_makes_an_environment_whose_scripts_work_and_hands_everything_on(
    launcher: Launcher,
) -> None:
    arguments = ["provision", "--target", "two words", "", "it's", '"$(x)"', "中文"]
    done = launcher.run(*arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("making the tool's own environment") == 1
    told = launcher.told(*arguments)
    assert told["argv"] == arguments
    assert Path(told["prefix"]).parent == launcher.tool
    assert told["cwd"] == str(launcher.home)
    script = Path(told["prefix"], "bin", "tiny-says")
    assert subprocess.check_output([script], text=True) == "tiny was here\n"


def test_the_exit_status_is_that_of_the_task(quick: Launcher) -> None:
    assert quick.run("exit", "7").returncode == 7
    assert quick.run("exit", "9").returncode == 9


def test_a_later_start_needs_no_network_and_no_python_on_path(quick: Launcher) -> None:
    quick.told()
    asked = len(quick.index.asked)
    (quick.programs / "python3").unlink()
    (quick.programs / "uv").unlink(missing_ok=True)
    done = quick.run(HTTPS_PROXY="http://localhost:1", PADDOCK_INDEX_URL="http://localhost:1")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(quick.index.asked) == asked


def test_a_later_start_costs_next_to_nothing(quick: Launcher) -> None:
    """In processor time, which does not depend on what else the machine does."""
    python = str(Path(quick.told()["prefix"], "bin", "python"))
    direct = [python, str(quick.root / "tasks.py")]
    launched = [str(quick.root / "paddock")]
    lowest = [min(seconds(quick, argv) for _ in range(15)) for argv in (direct, launched)]
    assert lowest[1] - lowest[0] < 0.015


def seconds(launcher: Launcher, argv: list[str]) -> float:
    """The processor time of this command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, env=launcher.environment(), check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_it_replaces_itself(quick: Launcher) -> None:
    """One process: a signal to the launcher reaches the task."""
    quick.told()
    with quick.start() as process:
        out, _ = process.communicate(timeout=60)
    assert f'"pid": {process.pid}' in out


def test_started_through_links_from_anywhere(quick: Launcher, tmp_path: Path) -> None:
    quick.told()
    (tmp_path / "a b").mkdir()
    absolute = tmp_path / "a b" / "absolute"
    absolute.symlink_to(quick.root / "paddock")
    (tmp_path / "relative").symlink_to("a b/absolute")
    quick.add_program("paddock", os.path.relpath(tmp_path / "relative", quick.programs))
    decoy = tmp_path / "decoy" / quick.root.name
    decoy.mkdir(parents=True)
    ways: list[tuple[list[str], Path, str]] = [
        ([str(absolute)], tmp_path, f"'{absolute}'"),
        (["./relative"], tmp_path, "./relative"),
        (["../relative"], tmp_path / "a b", "../relative"),
        (["paddock"], Path("/"), "paddock"),
        (["sh", "paddock"], quick.root, "paddock"),
        (["sh", f"{quick.root.name}/paddock"], quick.root.parent, "paddock"),
        (["./paddock"], quick.root, "paddock"),
    ]
    for argv, cwd, called in ways:
        shell = ["/bin/sh", "-c", '"$@"', "sh", *argv]
        env = quick.environment(CDPATH=str(decoy.parent))  # must not lead it astray
        done = subprocess.run(shell, cwd=cwd, env=env, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), argv
        assert json.loads(done.stdout)["called"] == called


PLACES = [
    {},
    {"XDG_CACHE_HOME": "/nowhere/缓存 x"},
    {"XDG_CACHE_HOME": "relative"},
    {"PADDOCK_HOME": "/nowhere/p h", "XDG_CACHE_HOME": "/nowhere/x"},
    {"PADDOCK_HOME": "relative home"},
    {"PADDOCK_HOME": "~"},
    {"PADDOCK_HOME": "~/own"},
    {"PADDOCK_PYTHON": "/some/python 3"},
    {"PADDOCK_PYTHON": "python3.10", "PADDOCK_HOME": ""},
]


@pytest.mark.slow
@pytest.mark.parametrize("variables", PLACES, ids=str)
def test_launcher_and_bootstrap_name_the_same_folder(
    quick: Launcher, variables: dict[str, str]
) -> None:
    """The rule stands in two languages: this holds them together."""
    if any(value.startswith("/nowhere") for value in variables.values()):
        moved = {k: v.replace("/nowhere", str(quick.home / "moved")) for k, v in variables.items()}
        variables = moved
    code = "from provision import bootstrap; print(bootstrap.folder(bootstrap.LOCK))"
    env = quick.environment(PYTHONPATH=str(quick.root), **variables)
    argv = [sys.executable, "-c", code]
    folder = Path(subprocess.check_output(argv, cwd=quick.home, env=env, text=True).rstrip("\n"))
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").write_text('#!/bin/sh\necho "this one: $*"\n')
    (folder / "bin" / "python").chmod(0o755)
    (quick.programs / "python3").unlink()  # so that the bootstrap cannot help
    done = quick.run("x", **variables)
    assert done.stdout == f"this one: {quick.root}/tasks.py x\n", done.stderr


def test_a_launcher_of_which_path_knows_nothing_is_named_as_it_was_typed(quick: Launcher) -> None:
    assert quick.told()["called"] == f"'{quick.root}/paddock'"
    shell = ["sh", "-c", 'cd "$0" && sh paddock; chmod -x paddock; sh paddock', str(quick.root)]
    env = quick.environment(PATH=f"{quick.programs}:/usr/bin:/bin")
    out = subprocess.check_output(shell, env=env, text=True)
    called = [json.loads(line)["called"] for line in out.splitlines()]
    assert called == ["./paddock", "sh ./paddock"]


def test_another_lock_is_another_environment(quick: Launcher) -> None:
    first = quick.told()["prefix"]
    lock = quick.root / "requirements.lock"
    lock.write_text(lock.read_text() + "# changed\n")
    assert quick.told()["prefix"] != first


def test_without_a_home_it_says_what_to_set(quick: Launcher) -> None:
    done = quick.run(HOME="")
    assert done.returncode == 4
    assert "PADDOCK_HOME" in done.stderr
    assert quick.run(HOME="", PADDOCK_LANG="zh").stderr.startswith("paddock: 未设置 HOME")


def test_it_is_clean_posix_shell() -> None:
    shellcheck = Path(sys.executable).with_name("shellcheck")
    subprocess.run([shellcheck, "-s", "sh", str(ROOT / "paddock")], check=True)
