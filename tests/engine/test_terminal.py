"""Whatever a name, a log or a file holds: what reaches the terminal moves no cursor."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from provision.errors import PaddockError
from provision.program import Paddock
from provision.progress import Live
from provision.show import error_lines
from provision.stream import paint, printable, say, say_json
from tasks import namespace
from tests.runs.test_history import kept, report

HOSTILE = "a\x1b[2J\n\x07\x9b31m\u202eb"


def stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")


def written(out: io.TextIOWrapper) -> str:
    assert isinstance(out.buffer, io.BytesIO)
    return out.buffer.getvalue().decode()


@given(st.text())
def test_a_line_is_one_printable_line(line: str) -> None:
    out = stream()
    say(out, line)
    shown = written(out)
    assert shown.endswith("\n") and harmless(shown[:-1]) and "\n" not in shown[:-1]


def test_blanks_and_colours_of_ours_pass() -> None:
    out = stream()
    say(out, "a\tb\u3000c\xa0d")
    say(out, paint(31, f"x {HOSTILE}", "\x1b"))
    plain, coloured, end = written(out).split("\n")
    assert (plain, end) == ("a\tb\u3000c\xa0d", "")
    assert coloured.startswith("\x1b[31mx a") and coloured.count("\x1b") == 2


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_means_the_same(value: str) -> None:
    out = stream()
    say_json(out, {value: [value]})
    shown = written(out)
    assert json.loads(shown) == {value: [value]} and harmless(shown)


def harmless(shown: str) -> bool:
    """Whether it holds nothing but what can be seen, and ends of lines."""
    return all(line == printable(line) for line in shown.split("\n"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files whose names and content would steer a terminal."""
    bad = tmp_path / f"{HOSTILE}.json"
    bad.write_text(f'{{"src": "{HOSTILE}"}}\n', encoding="utf-8")
    log = f"{HOSTILE}\nRuntimeError: {HOSTILE} error 507899\nfatal error: {HOSTILE}\n"
    (tmp_path / f"{HOSTILE}.log").write_text(log, encoding="utf-8")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / f"{HOSTILE}.safetensors").write_bytes(b"\x1b[2J" * 9)
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent" / f"{HOSTILE}.txt").write_text(HOSTILE, encoding="utf-8")
    return tmp_path


COMMANDS = (
    "read *.json", "read *.log *.none", "explain *.log", "explain *.none", "explain *",
    "data *.json", "data *.none", "checkpoint model", "checkpoint *.none", "fit --model *.json",
    "fit --model *", "tune --config *.json", "verify-wheel *.json", "verify-wheel *.none",
    "verify-wheel --env * *.json", "doctor --from *.none", "doctor --from sent",
    "doctor --compare *.json --compare *.log", "smoke --diagnose *.log", "smoke --diagnose *.none",
    "smoke --target *", "smoke --text *.json --target loopback", "provision --target *",
    "provision --target loopback --stack *.json", "provision --from *", "render --target *",
    "render --as * --target loopback", "targets *", "*", "--*", "history --target loopback",
    "history --target loopback --compare * --compare *", "report --target loopback --html *",
    "lock --target *", "build-ops --backend *", "build-ops --source *", "lab *",
    "read *.json --json", "explain *.log --json", "data *.json --json", "doctor --from sent --json",
    "history --target loopback --json", "verify-wheel *.none --json", "checkpoint model --json",
)  # fmt: skip


@pytest.mark.parametrize("line", COMMANDS)
def test_what_commands_say_of_hostile_files_is_harmless(
    home: Path, folder: Path, capsys: pytest.CaptureFixture[str], line: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    kept(report(error=HOSTILE, said=HOSTILE))
    words = [word.replace("*", HOSTILE) for word in line.split(" ")]
    with pytest.raises(SystemExit) as ended:
        Paddock(namespace=namespace, name="paddock", binary="paddock").run(["paddock", *words])
        raise SystemExit(0)
    shown = "".join(capsys.readouterr())
    assert harmless(shown) and shown.strip() and ended.value.code not in (70, None)


def test_an_error_shows_its_details_and_names_printable() -> None:
    error = PaddockError("bad-file", ("one\ntwo", HOSTILE), file=HOSTILE, reason=HOSTILE)
    out = stream()
    for line in error_lines(error):
        say(out, line)
    rows = written(out).split("\n")
    assert rows[:2] == ["    | one", "    | two"] and harmless(written(out))


def test_a_step_cannot_steer_the_live_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", stream())
    live = Live()
    live.started("step")
    live.line("step", f"  {HOSTILE}")
    console = Console(file=io.StringIO(), force_terminal=False, width=200)
    console.print(live._table())
    assert isinstance(console.file, io.StringIO)
    assert "step" in console.file.getvalue() and harmless(console.file.getvalue())
