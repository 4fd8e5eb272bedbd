"""The command line itself: what it does not understand, and names that never become paths."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Cli, variables
from tests.engine.world import World, tree


@pytest.mark.parametrize(
    ("line", "nearest"),
    [
        ("doctr", "doctor"), ("provision --taget x", "--target"), ("provision --jobs", "--jobs"),
        ("help", "--help"), ("provision --json extra", ""), ("--help doctr", "doctor"),
        ("doctor --hep", "--help"), ("provision --dry", "--dry-run"),
        ("lab", "`lab` needs ACTION: up, list"), ("doctor --strict=5", "--strict takes no value"),
        ("verify-wheel x --no-imprt", "--no-import"), ("--list doctors", "doctor"),
        ("--list-depth=x --list", "--list"), ("--command-timeout=x", ""), ("-x", ""),
        ("doctor --hp", "--help doctor its flags"), ("doctor --fix=", "--fix takes no value"),
        ("doctor it's", "called `it's`"),
        ("--print-completion-script csh", "bash, fish, zsh"),
    ],
)  # fmt: skip
def test_a_command_that_is_not_understood(cli: Cli, line: str, nearest: str) -> None:
    result = cli(*line.split())
    assert result.returncode == 2
    assert nearest in result.stderr
    assert len(result.stderr.strip().splitlines()) == 3, result.stderr
    if "--json" in line:
        assert json.loads(result.stdout)["code"] == "bad-command"


@pytest.mark.parametrize(
    ("line", "flag"),
    [
        ("smoke --diagnose=", "--diagnose"), ("doctor --compare a --compare=", "--compare"),
        ("fit --model= --train", "--model"), ("provision --ca-bundle= --dry-run", "--ca-bundle"),
        ("build-ops --in=", "--in"), ("report --json --html=", "--html"),
    ],
)  # fmt: skip
def test_an_empty_value_is_no_flag_left_out(here: Cli, line: str, flag: str) -> None:
    result = here(*line.split())
    assert result.returncode == 2
    assert f"{flag} cannot be (empty)" in result.stderr
    if "--json" in line:
        assert json.loads(result.stdout)["code"] == "bad-option"


AT_HOME = [
    "fit --train --model", "tune --config", "data", "checkpoint", "read", "explain", "verify-wheel",
    "provision --dry-run --deps", "provision --dry-run --stack", "provision --dry-run --ca-bundle",
    "smoke --dry-run --target npu --level train --checkout", "smoke --diagnose", "doctor --env",
    "doctor --from", "build-ops --backend custom_cpu --source",
    "build-ops --backend custom_cpu --python",
]  # fmt: skip


@pytest.mark.parametrize("line", AT_HOME)
def test_the_home_of_nobody_is_a_file_that_is_not_there(here: Cli, line: str) -> None:
    result = here(*line.split(), "~nobody-at-all/x")
    assert 0 < result.returncode < 70, result.stderr
    assert "~nobody-at-all/x" in result.stdout + result.stderr


def test_a_home_is_filled_in_where_the_shell_does_not(cli: Cli, home: Path, tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("nothing\n")
    for line in ("smoke --diagnose=~/run.log", "explain ~/run.log"):
        result = cli(*line.split(), HOME=str(tmp_path))
        assert result.returncode == 12 and str(tmp_path) in result.stdout
    refused = cli("provision", "--dry-run", PADDOCK_HOME="~nobody-at-all/x")
    assert refused.returncode == 2 and "PADDOCK_HOME" in refused.stderr


@pytest.mark.parametrize("line", ["read --help", "lab -h", "--help fit", "explain K041 x -h"])
def test_help_is_never_taken_for_a_file_and_speaks_the_language(cli: Cli, line: str) -> None:
    result = cli(*line.split(), PADDOCK_LANG="zh")
    task = next(word for word in line.split() if word[0] != "-")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"用法：paddock {task} ")
    for word in ("Usage", "Options", "Docstring", "none", "core-opts", "STRING"):
        assert word not in result.stdout


def test_the_tab_key_completes_the_tool_as_it_was_called(cli: Cli) -> None:
    script = cli("--print-completion-script", "bash").stdout
    assert "-o default paddock\n" in script and "tasks.py" not in script
    assert cli("--complete", "--", "paddock", "doctor", "--sn").stdout.split().count("--snapshot")


def test_the_help_offers_only_flags_that_mean_something(cli: Cli) -> None:
    out = cli("--help").stdout
    assert "provision" in out
    assert "--list" in out
    assert "--dry" not in out
    assert "--pty" not in out
    chinese = cli("--help", PADDOCK_LANG="zh").stdout
    assert "任务：" in chinese and "Show" not in chinese and "Subcommands" not in chinese


@pytest.mark.parametrize("arguments", [["--help"], ["--list"], ["provision", "--dry-run"]])
def test_a_reader_that_goes_away_is_no_fault(home: Path, arguments: list[str]) -> None:
    command = [sys.executable, str(ROOT / "tasks.py"), *arguments]
    tool = subprocess.Popen(
        command, env=variables(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert tool.stdout is not None
    tool.stdout.close()
    _, errors = tool.communicate(timeout=60)
    assert errors == b""


@pytest.mark.parametrize("line", ["--help", "--list", "--version", "doctor --list", "explain K041"])
def test_output_without_room_is_an_error_in_our_words(home: Path, line: str) -> None:
    command = [sys.executable, str(ROOT / "tasks.py"), *line.split()]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, env=variables(home), stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 4 and b"Standard output cannot be written" in done.stderr
    assert b"PADDOCK_HOME" not in done.stderr
    assert b"Exception ignored" not in done.stderr


@pytest.mark.parametrize("more", [{"COLUMNS": "1"}, {"PYTHONIOENCODING": "ascii"}])
def test_a_list_on_a_poor_terminal(home: Path, more: dict[str, str]) -> None:
    command = [sys.executable, str(ROOT / "tasks.py"), "--list"]
    env = {**variables(home), "PADDOCK_LANG": "zh", **more}
    done = subprocess.run(command, env=env, capture_output=True, check=False)
    assert done.returncode == 0 and b"doctor" in done.stdout


def test_names_that_begin_with_a_dash_and_no_input(cli: Cli) -> None:
    assert "-none" in cli("read", "--", "-none").stderr
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" "$1" explain - <&-', sys.executable, str(ROOT / "tasks.py")],
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2


@pytest.mark.parametrize("name", ["../../victim", "..", "", "/tmp/victim", "lopback", "a/../b"])  # noqa: S108
@pytest.mark.parametrize("more", [[], ["--undo"], ["--dry-run"]])
def test_an_unknown_target_touches_nothing(
    tmp_path: Path, here: Cli, name: str, more: list[str]
) -> None:
    left = tmp_path / "victim" / "lib" / "python3.11" / "site-packages" / "a-1.dist-info"
    left.mkdir(parents=True)
    before = tree(tmp_path)
    result = here("provision", "--target", name, *more)
    assert result.returncode == 2, result.stdout + result.stderr
    assert tree(tmp_path) == before


def test_an_undo_that_only_tells_changes_nothing(ready: World) -> None:
    before = tree(ready.home)
    out = ready.good("--undo", "--dry-run")
    assert str(ready.env) in out
    assert tree(ready.home) == before


def test_a_file_that_is_gone_from_a_built_wheel_is_noticed(ready: World) -> None:
    module = next(ready.env.glob("lib/*/site-packages/gamma*.py"))
    module.unlink()
    count = len(ready.entries())
    ready.good()
    assert ready.ran(count) == ["lib/install"]
    assert module.is_file()
