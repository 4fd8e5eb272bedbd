"""The launcher: where it looks, how it is started, and that a later start is next to nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from provision.paths import ROOT
from tests.frame.conftest import Launcher


def test_first_start_makes_the_environment_and_hands_everything_on(launcher: Launcher) -> None:
    arguments = ["provision", "--target", "two words", "", "it's", '"$(x)"', "中文"]
    done = launcher.run(*arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("making the tool's own environment") == 1
    told = launcher.told(*arguments)
    assert told["argv"] == arguments
    assert Path(told["prefix"]).parent == launcher.tool
    assert told["cwd"] == str(launcher.home)


def test_the_exit_status_is_that_of_the_task(bare: Launcher) -> None:
    assert bare.run("exit", "7").returncode == 7
    assert bare.run("exit", "9").returncode == 9


def test_console_scripts_of_the_environment_work(launcher: Launcher) -> None:
    script = Path(launcher.told()["prefix"], "bin", "tiny-says")
    assert subprocess.check_output([script], text=True) == "tiny was here\n"


def test_a_later_start_needs_no_network_and_no_python_on_path(launcher: Launcher) -> None:
    launcher.told()
    asked = len(launcher.index.asked)
    (launcher.programs / "python3").unlink()
    (launcher.programs / "uv").unlink(missing_ok=True)
    done = launcher.run(HTTPS_PROXY="http://localhost:1", PADDOCK_INDEX_URL="http://localhost:1")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(launcher.index.asked) == asked


def test_a_later_start_costs_next_to_nothing(bare: Launcher) -> None:
    python = str(Path(bare.told()["prefix"], "bin", "python"))
    direct = [python, str(bare.root / "tasks.py")]
    launched = [str(bare.root / "paddock")]
    cost = min(seconds(bare, launched) for _ in range(15)) - min(
        seconds(bare, direct) for _ in range(15)
    )
    assert cost < 0.025


def seconds(launcher: Launcher, argv: list[str]) -> float:
    """How long this command takes."""
    start = time.perf_counter()
    subprocess.run(argv, env=launcher.environment(), check=True, capture_output=True)
    return time.perf_counter() - start


def test_it_replaces_itself(bare: Launcher) -> None:
    """One process: a signal to the launcher reaches the task."""
    bare.told()
    with bare.start() as process:
        out, _ = process.communicate(timeout=60)
    assert f'"pid": {process.pid}' in out


def test_started_through_links_from_anywhere(bare: Launcher, tmp_path: Path) -> None:
    bare.told()
    (tmp_path / "a b").mkdir()
    absolute = tmp_path / "a b" / "absolute"
    absolute.symlink_to(bare.root / "paddock")
    (tmp_path / "relative").symlink_to("a b/absolute")
    bare.add_program("paddock", os.path.relpath(tmp_path / "relative", bare.programs))
    ways: list[tuple[list[str], Path]] = [
        ([str(absolute)], tmp_path),
        (["./relative"], tmp_path),
        (["../relative"], tmp_path / "a b"),
        (["paddock"], Path("/")),
        (["sh", "paddock"], bare.root),
        (["./paddock"], bare.root),
    ]
    for argv, cwd in ways:
        shell = ["/bin/sh", "-c", '"$@"', "sh", *argv]
        env = bare.environment(CDPATH="/tmp:/usr")  # noqa: S108 - must not lead it astray
        done = subprocess.run(shell, cwd=cwd, env=env, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), argv


PLACES = [
    {},
    {"XDG_CACHE_HOME": "/nowhere/缓存 x"},
    {"XDG_CACHE_HOME": "relative"},
    {"PADDOCK_HOME": "/nowhere/p h", "XDG_CACHE_HOME": "/nowhere/x"},
    {"PADDOCK_HOME": "relative home"},
    {"PADDOCK_HOME": "~"},
    {"PADDOCK_HOME": "~/own"},
    {"PADDOCK_PYTHON": sys.executable},
    {"PADDOCK_PYTHON": sys.executable, "PADDOCK_HOME": ""},
]


@pytest.mark.parametrize("variables", PLACES, ids=str)
def test_launcher_and_bootstrap_name_the_same_folder(
    bare: Launcher, variables: dict[str, str]
) -> None:
    """The rule stands in two languages: this holds them together."""
    if any(value.startswith("/nowhere") for value in variables.values()):
        moved = {k: v.replace("/nowhere", str(bare.home / "moved")) for k, v in variables.items()}
        variables = moved
    code = "from provision import bootstrap; print(bootstrap.folder(bootstrap.LOCK))"
    env = bare.environment(PYTHONPATH=str(bare.root), **variables)
    argv = [sys.executable, "-c", code]
    folder = Path(subprocess.check_output(argv, cwd=bare.home, env=env, text=True).rstrip("\n"))
    (folder / "bin").mkdir(parents=True)
    (folder / "ready").touch()
    (folder / "bin" / "python").write_text('#!/bin/sh\necho "this one: $*"\n')
    (folder / "bin" / "python").chmod(0o755)
    done = bare.run("x", **variables)
    assert done.stdout == f"this one: {bare.root}/tasks.py x\n", done.stderr


def test_another_lock_is_another_environment(bare: Launcher) -> None:
    first = bare.told()["prefix"]
    lock = bare.root / "requirements.lock"
    lock.write_text(lock.read_text() + "# changed\n")
    assert bare.told()["prefix"] != first


def test_without_a_home_it_says_what_to_set(bare: Launcher) -> None:
    done = bare.run(HOME="")
    assert done.returncode == 4
    assert "PADDOCK_HOME" in done.stderr
    assert bare.run(HOME="", PADDOCK_LANG="zh").stderr.startswith("paddock: 未设置 HOME")


def test_it_is_clean_posix_shell() -> None:
    shellcheck = Path(sys.executable).with_name("shellcheck")
    subprocess.run([shellcheck, "-s", "sh", str(ROOT / "paddock")], check=True)
