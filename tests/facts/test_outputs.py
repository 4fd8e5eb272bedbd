"""What is asked of the vendors' tools, in which order, and what a tool that hangs costs."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from provision.facts import outputs
from provision.facts.questions import Command, File, Questions
from provision.facts.together import together
from tests.read.drawn import npu_table
from tests.read.samples import B3, b3

TOPICS = ("health", "ecc")


def question(*command: str, limit: float = 20) -> Command:
    return Command(list(command), limit, "ours", "2026-11", "npu")


def tool(folder: Path, monkeypatch: pytest.MonkeyPatch, shell: str, limit: float = 20) -> Path:
    """A stand-in for npu-smi, and questions to it alone; the file where it notes the questions."""
    (folder / "npu-smi").write_text(f'#!/bin/sh\necho "$*" >>{folder}/asked\n{shell}\n')
    (folder / "npu-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    more = [question("npu-smi", "info", "-t", topic, "-i", "{npu}", limit=limit)
            for topic in TOPICS]  # fmt: skip
    every = Questions([question("npu-smi", "info", limit=limit),
                       question("npu-smi", "info", "-m", limit=limit), *more], [])  # fmt: skip
    monkeypatch.setattr(outputs, "questions", lambda: every)
    return folder / "asked"


def show(folder: Path, in_trouble: set[int]) -> str:
    """A shell line that prints a table of 16 cards when `info` is asked."""
    dies = [b3(npu, health="Alarm" if npu in in_trouble else "OK") for npu in range(16)]
    (folder / "table").write_text(npu_table(B3, dies, []))
    return f'[ "$*" != info ] || cat {folder}/table'


@pytest.mark.parametrize("in_trouble", [set(), {5}, {3, 11}])
def test_only_cards_in_trouble_are_asked_about_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_trouble: set[int]
) -> None:
    asked = tool(tmp_path, monkeypatch, show(tmp_path, in_trouble))
    got = outputs.collect(["npu"], tmp_path)
    more = [f"info -t {topic} -i {npu}" for topic in TOPICS for npu in sorted(in_trouble)]
    assert sorted(asked.read_text().splitlines()) == sorted(["info", "info -m", *more])
    assert [one.source for one in got] == [
        f"npu-smi {words}" for words in ("info", "info -m", *more)
    ]


def test_questions_wait_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ends only when the other one of its round has begun; one by one they would be cut."""
    wait = f"""{show(tmp_path, {7})}
case "$*" in
info) other="info -m" ;; "info -m") other=info ;;
*health*) other="info -t ecc -i 7" ;; *) other="info -t health -i 7" ;;
esac
until grep -qx "$other" {tmp_path}/asked; do sleep 0.05; done"""
    tool(tmp_path, monkeypatch, wait)
    got = outputs.collect(["npu"], tmp_path)
    assert len(got) == 4
    assert {(one.status, one.problem) for one in got} == {(0, "")}


def test_a_tool_that_was_silent_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hang = f'{show(tmp_path, {5})}\n[ "$*" = info ] || sleep 60'
    asked = tool(tmp_path, monkeypatch, hang, limit=1)
    begin = time.monotonic()
    got = outputs.collect(["npu"], tmp_path)
    assert time.monotonic() - begin < 10
    assert [one.problem for one in got] == ["", "silent"]
    assert sorted(asked.read_text().splitlines()) == ["info", "info -m"]


def test_a_file_that_cannot_be_looked_at_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name too long for the system stands for a folder that this user may not enter."""
    every = Questions([], [File("/etc/demo-*.info", "ours", "2026-11")])
    monkeypatch.setattr(outputs, "questions", lambda: every)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/demo-a.info").symlink_to("x" * 300)
    (tmp_path / "etc/demo-b.info").write_text("version=1\n")
    (tmp_path / "etc/demo-c.info").symlink_to("gone")
    (tmp_path / "etc/demo-d.info").mkdir()
    got = [(one.source, one.problem) for one in outputs.collect([], tmp_path)]
    assert got == [("/etc/demo-a.info", "unreadable"), ("/etc/demo-b.info", "")]


def test_calls_together_are_bounded_in_order_and_raise() -> None:
    running, most, lock = 0, 0, threading.Lock()

    def call(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1
        return number

    assert together([lambda n=n: call(n) for n in range(48)]) == list(range(48))  # type: ignore[misc]
    assert 1 < most <= 16

    def fail() -> int:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        together([lambda: 1, fail])
    assert together([]) == []
