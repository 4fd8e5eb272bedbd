"""A command that is shown runs as it stands, however the tool was started."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from provision.called import as_typed, called
from provision.stream import record, say
from tests.conftest import ROOT, Cli, variables


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if the tool were called NAME."""
    monkeypatch.setenv("PADDOCK_CALLED", "NAME")
    called.cache_clear()
    yield
    called.cache_clear()


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("type `paddock doctor --json`", "type `NAME doctor --json`"),
        ("next: paddock doctor, paddock smoke --text F", "next: NAME doctor, NAME smoke --text F"),
        ("请执行：paddock lab up", "请执行：NAME lab up"),
        ("（paddock --list 显示", "（NAME --list 显示"),
        ("\033[31mx\033[0m paddock doctor", "\033[31mx\033[0m NAME doctor"),
        *((same, same) for same in (
            "paddock is a tool", "paddock doctors", "paddock-doctor", "/opt/paddock doctor",
            "./paddock doctor", "my-paddock doctor", "paddock read-me", "paddock --version",
            "    | $ paddock doctor", "     > paddock doctor failed", "paddock: x",
        )),
    ],
)  # fmt: skip
def test_a_line_names_the_tool_as_it_was_called(named: None, line: str, shown: str) -> None:
    assert as_typed(line) == shown
    stream = io.StringIO()
    say(stream, "  paddock doctor")
    record(stream, "  paddock doctor")
    assert stream.getvalue() == "  NAME doctor\n  paddock doctor\n"


@pytest.mark.slow  # makes the environment of the tests
def test_what_the_tool_starts_speaks_as_it_was_called(cli: Cli) -> None:
    refused = cli("lab", "up", "--target", "s60", "--variant", "none", PADDOCK_CALLED="NAME")
    assert refused.returncode == 2 and "; NAME lab list says" in refused.stderr


@pytest.mark.parametrize("script", [f"{ROOT}/tasks.py", "./tasks.py"])
def test_a_python_with_the_task_file_is_named_as_it_was_typed(tmp_path: Path, script: str) -> None:
    typed = [sys.executable, "-s", script]
    env = {**variables(tmp_path), "PADDOCK_CALLED": ""}
    done = subprocess.run(
        [*typed, "doctr", "--json"], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert f"{' '.join(typed)} --list" in done.stderr
    assert "paddock --list shows" in json.loads(done.stdout)["do"]
