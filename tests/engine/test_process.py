"""Running one script: its output, its end, and whatever it left running."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from provision.network import hide_secrets
from provision.orphans import MARK, end_orphans
from provision.process import TAIL, Outcome, Processes, Stopped
from provision.stream import settled

Run = Callable[..., Outcome]


@pytest.fixture
def mark() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def run(tmp_path: Path, mark: str) -> Run:
    """Run a script's text; its log is `tmp_path/log`."""

    def start(text: str, processes: Processes | None = None) -> Outcome:
        script = tmp_path / "script.sh"
        script.write_text(text, encoding="utf-8")
        variables = {**os.environ, MARK: f"{mark}/a-step"}
        return (processes or Processes()).run(script, tmp_path / "log", variables, lambda _: None)

    return start


def test_the_log_has_everything_and_the_tail_the_end(run: Run, tmp_path: Path) -> None:
    outcome = run("i=0; while [ $i -lt 5000 ]; do i=$((i+1)); echo line $i; done; echo 坏; exit 7")
    lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert lines == [*(f"line {number}" for number in range(1, 5001)), "坏"]
    assert outcome == Outcome(7, tuple(lines[-TAIL:]))


def test_output_that_is_no_text_is_no_error(run: Run, tmp_path: Path) -> None:
    assert run(r"printf 'a\377\000b\n'; echo err >&2").status == 0
    assert "err" in (tmp_path / "log").read_text(encoding="utf-8")


def test_the_tail_is_what_a_terminal_would_show(run: Run, tmp_path: Path) -> None:
    """As makeself tells its progress; the log keeps all that came."""
    outcome = run(
        r"printf 'Verifying...   0%%  \b\b\b\b\b\b\b  32%%  \b\b\b\b\b\b\b 100%%   done\n'"
        r"; printf '\377\376\033[31mred\033[0m\a\n\001\002\n'; printf '\033]0;title\007named\n'"
    )
    assert outcome.tail == ("Verifying... 100%   done", "red", "named")
    assert "32%" in (tmp_path / "log").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "shown"),
    [("ab\rc", "cb"), ("\b\bx", "x"), ("中\b文", "文"), ("a\tb", "a\tb"), ("\x1b[2Kab", "ab"),
     ("\N{REPLACEMENT CHARACTER}", ""), ("\x1b", "")],
)  # fmt: skip
def test_what_is_written_over_is_gone(line: str, shown: str) -> None:
    assert settled(line) == shown


def test_a_failing_command_or_an_unset_name_ends_the_script(run: Run) -> None:
    assert run("false\necho still here").tail == ()
    assert run('echo "$nowhere"').status != 0
    assert run("kill -9 $$").status == -9


def test_a_child_left_behind_neither_blocks_nor_stays(run: Run, mark: str) -> None:
    began = time.monotonic()
    assert run("sleep 300 & echo ended").tail == ("ended",)
    assert time.monotonic() - began < 10
    assert end_orphans(mark) == 0


def test_a_daemon_in_its_own_session_neither_blocks_nor_stays(run: Run, mark: str) -> None:
    began = time.monotonic()
    assert run("setsid -f sleep 300; sleep 0.3; echo ended").tail == ("ended",)
    assert time.monotonic() - began < 10
    assert end_orphans(mark) == 0


def test_stop_ends_even_what_does_not_listen(run: Run, mark: str, tmp_path: Path) -> None:
    processes = Processes()
    ended: list[bool] = []

    def work() -> None:
        with pytest.raises(Stopped):
            run("trap '' TERM; echo deaf; sleep 300; sleep 300", processes)
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    while not (tmp_path / "log").exists() or not (tmp_path / "log").read_text():
        time.sleep(0.01)
    processes.stop(patience=0.3)
    thread.join(10)
    assert ended == [True]
    assert end_orphans(mark) == 0
    with pytest.raises(Stopped):
        run("echo never", processes)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("see https://user:word@host/simple now", "see https://***@host/simple now"),
        ("https://token@host", "https://***@host"),
        ("http://u:p%40ss@h/ http://a:b@c/", "http://***@h/ http://***@c/"),
        ("http://u:p@ss@h/", "http://***@h/"),
        ("url=https://user:pa/ss@host/simple", "url=https://***@host/simple"),
        ("mail me@example.org, https://host/a", "mail me@example.org, https://host/a"),
    ],
)
def test_user_and_password_of_an_address_are_hidden(line: str, shown: str, run: Run) -> None:
    assert hide_secrets(line) == shown
    assert run(f"echo '{line}'").tail == (shown,)
