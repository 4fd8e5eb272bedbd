"""The judge of an evaluation: what passes, and every way in which a log does not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Cli, variables
from tests.judge.conftest import Judge, keys, only
from tests.judge.logs import GCU_END, evaluation, text

GOOD = text(evaluation())


@pytest.mark.parametrize(
    "change",
    [
        lambda log: log,
        lambda log: text(evaluation(colour=True)),
        lambda log: text(evaluation(begin=2000)),
        lambda log: log.replace(b"\n", b"\r\n"),
        lambda log: log.replace(b"\n[", b"\r\x1b[K 12%|###   | 3/9\r[")[:],
        lambda log: re.sub(rb"\s+", b" ", log),  # the lines of a web page, all in one
        lambda log: log.decode().encode("utf-16"),
        lambda log: b"\n".join(log.split(b"\n")[:-3]) + b"\n" + text(GCU_END),
    ],
)
def test_a_good_log_passes(judged: Judge, change: Callable[[bytes], bytes]) -> None:
    found = judged(change(GOOD))
    assert found.outcome == "passed", keys(found, "failed") | keys(found, "unknown")
    assert only(found).figures["ppl"] == 12.785
    assert (only(found).level, only(found).target, found.status) == ("model", "s60", 0)


def _replace(old: str, new: str) -> Callable[[bytes], bytes]:
    def change(log: bytes) -> bytes:
        assert log.count(old.encode()), old
        return log.replace(old.encode(), new.encode())

    return change


@pytest.mark.parametrize(
    ("change", "outcome", "key"),
    [
        (_replace("| ppl: 1.2785E+01", "| ppl: 1.3785E+01"), "failed", "formula-not"),
        (_replace("| ppl: 1.2785E+01", "| ppl: 1.2784E+02"), "failed", "ppl-not"),
        (_replace("avg loss: 2.5483", "avg loss: 2.5493"), "failed", "formula-not"),
        (_replace("adjusted ppl: 2.643", "adjusted ppl: 2.743"), "failed", "formula-not"),
        (_replace("token ratio: 1.285", "token ratio: 1.286"), "failed", "ratio-not"),
        (lambda log: text(evaluation(2.60)), "failed", "ppl-not"),
        (lambda log: text(evaluation(2.5483 + 0.004)), "failed", "ppl-not"),
        (lambda log: text(evaluation(tokens=300000)), "unknown", "other-data"),
        (lambda log: text(evaluation(float("nan"))), "failed", "not-finite"),
        (lambda log: text(evaluation(25.0)), "failed", "ppl-not"),
        (
            lambda log: re.sub(rb"(step 990, .*loss: )\S+,", rb"\g<1>1.0,", log),
            "failed",
            "sum-falls",
        ),
        (lambda log: text(evaluation(2.4)[:-3] + evaluation()[-3:]), "failed", "result-apart"),
        (lambda log: log[: log.index(b" | adjusted")], "unknown", "result-cut"),
        (lambda log: log[: len(log) // 2], "unknown", "result-missing"),
        (lambda log: re.sub(rb"loss: (\d)\.", rb"loss: \1,", log), "unknown", "unreadable"),
        (_replace("ppl: 1.2785E+01 |", "ppl: 1,2785E+01 |"), "unknown", "unreadable"),
        (lambda log: text(evaluation(device=False)), "unknown", "device-missing"),
        (_replace("Backend GCU Finalize", ""), "unknown", "end-missing"),
        (_replace("speed: 1.42", "speed: 9.99"), "unknown", "speed-clock"),
        (
            lambda log: re.sub(rb"(step 990, .*speed: )1.42", rb"\g<1>1.52", log),
            "unknown",
            "speed-clock",
        ),
        (
            lambda log: b"".join(log.splitlines(True)[:50] + log.splitlines(True)[60:]),
            "unknown",
            "hole",
        ),
        (
            _replace("token ratio: 1.285056584007609", "token ratio: 1.285056584007608"),
            "failed",
            "ratio-not",
        ),
        (lambda log: log.replace(b", loss:", b", number correct:"), "unknown", "cloze"),
    ],
)
def test_what_is_wrong_is_named(
    judged: Judge, change: Callable[[bytes], bytes], outcome: str, key: str
) -> None:
    found = judged(change(GOOD))
    assert (found.outcome, key in keys(found, outcome)) == (outcome, True), only(found).reasons


def test_a_plugin_that_was_skipped_is_a_failure(judged: Judge) -> None:
    skipped = (
        "W0309 08:00:00.1 9 init.cc:1] Skipped lib [libpaddle-custom-gcu.so]: InitPlugin failed"
    )
    found = judged([skipped, *evaluation(device=False)])
    assert "device-skipped" in keys(found, "failed")


def test_ranks_that_write_into_one_log_are_not_judged(judged: Judge) -> None:
    one, other = evaluation(), evaluation(2.55)
    both = [line for pair in zip(one, other, strict=True) for line in pair]
    found = judged(both)
    assert (found.outcome, "mixed" in keys(found, "unknown")) == ("unknown", True)
    same = judged([line for line in one for _ in range(2)])  # `tee`, or ranks with equal figures
    assert same.outcome == "passed"


def test_of_two_runs_the_last_is_judged(judged: Judge) -> None:
    found = judged([*evaluation()[:100], *evaluation()])
    assert (found.outcome, keys(found, "warning")) == ("passed", {"restarted"})


def test_a_slow_run_is_right_and_slow(judged: Judge) -> None:
    found = judged(evaluation(speed=0.4))
    assert (found.outcome, keys(found, "warning")) == ("passed", {"slow"})


def test_an_unfinished_run_tells_the_time_left(judged: Judge) -> None:
    figures = only(judged(evaluation()[:103])).figures
    assert (figures["step"], figures["steps"]) == (990, 2186)
    assert figures["seconds_left"] == round((2186 - 990) / 1.42)


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "eval.log"
    log.write_bytes(GOOD)
    value = json.loads(cli("smoke", "--diagnose", str(log), "--json").stdout)
    assert (value["schema"], value["outcome"], value["status"]) == (
        "paddock/diagnosis/1", "passed", 0,
    )  # fmt: skip
    log.write_bytes(text(evaluation(2.6)))
    result = cli("smoke", "--diagnose", str(log))
    assert (result.returncode, "12.785" in result.stdout) == (8, True)
    assert "no log in this folder" in cli("smoke", "--diagnose", str(ROOT / "bench")).stderr


def test_a_folder_of_which_a_part_cannot_be_read(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "eval.log").write_bytes(GOOD)
    (tmp_path / "round.log").symlink_to("round.log")
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe.log")
    result = cli("smoke", "--diagnose", str(tmp_path))
    assert (result.returncode, "12.785" in result.stdout) == (2, True)
    assert f"Not read: {tmp_path / 'round.log'}" in result.stdout
    assert "PADDOCK_HOME" not in result.stderr


BOTH = pytest.mark.parametrize("command", [["explain"], ["smoke", "--diagnose"]])


@BOTH
@pytest.mark.parametrize(
    ("content", "said"), [(b"", "Nothing is in"), (bytes(range(256)) * 99, "holds no text")]
)
def test_what_is_no_text(
    here: Cli, tmp_path: Path, command: list[str], content: bytes, said: str
) -> None:
    (tmp_path / "a.log").write_bytes(content)
    result = here(*command, str(tmp_path / "a.log"))
    assert (result.returncode, said in result.stdout) == (12, True), result.stdout
    assert "None of the known" not in result.stdout


@BOTH
def test_a_device_is_no_log(cli: Cli, command: list[str]) -> None:
    refused = cli(*command, "/dev/zero", timeout=30)
    assert refused.returncode == 2 and "device" in refused.stderr


def test_standard_input(home: Path) -> None:
    result = subprocess.run(
        [sys.executable, ROOT / "tasks.py", "smoke", "--diagnose", "-"], input=GOOD,
        capture_output=True, check=False, env=variables(home),
    )  # fmt: skip
    assert (result.returncode, b"12.785" in result.stdout) == (0, True)
