"""The verdict on an import of Paddle, from what it says, in the layout of its real words."""

from __future__ import annotations

from pathlib import Path

import pytest

from provision.facts.command import Answer
from provision.facts.loading import Verdict, judge, load

STAMP = "W0101 00:00:00.123456 42 custom_device_load.cc:45] "
SKIP = STAMP + "Skipped lib [/x/lib.so]: InitPlugin failed, please check."
HARMLESS = STAMP + "Skipped lib [/x/lib.so]: no custom engine Plugin symbol in this lib."
OPEN = "ValueError: Fail to open library: /x/lib.so with error: "
NONE = "paddock-device-types []\n"
ENTRY = STAMP + "Skipped lib [/x/lib.so]: fail to find InitPlugin symbol in this lib."
DEMO = 'paddock-device-types ["demo"]\n'


@pytest.mark.parametrize(
    ("status", "out", "err", "verdict"),
    [
        (0, DEMO, HARMLESS, "loads"),
        (0, "noise\n" + DEMO, "", "loads"),
        (0, NONE, SKIP, "skipped"),
        (0, NONE, ENTRY, "skipped"),
        (0, DEMO, ENTRY, "loads"),  # of another library
        (0, NONE, "", "unknown"),
        (0, 'paddock-device-types ["other"]\n', "", "unknown"),
        (127, "", "python: symbol lookup error: /x/lib.so: undefined symbol: PD_Thing", "symbol"),
        (1, "", OPEN + "/x: undefined symbol: PD_T", "symbol"),
        (1, "", OPEN + "file too short", "broken"),
        (1, "", "Traceback\nTypeError: odd", "raises"),
        (0, "", "", "raises"),
        (-11, "", "a trace", "crashes"),
        (-6, DEMO, "", "crashes"),
        (None, "", "", "hangs"),
        (None, DEMO, "", "hangs"),
    ],
)  # fmt: skip
def test_verdicts(status: int | None, out: str, err: str, verdict: Verdict) -> None:
    assert judge(Answer(status, out, err), "demo").verdict == verdict


def test_a_traceback_is_more_telling_than_what_the_plugin_prints() -> None:
    assert (
        judge(Answer(1, "demo: hello\n", "Traceback\nMemoryError\n"), "demo").line == "MemoryError"
    )
    assert judge(Answer(1, "demo: hello\n", ""), "demo").line == "demo: hello"


def test_the_evidence_has_no_time_stamp_and_the_plugin_own_words() -> None:
    log = "I0101 00:00:00.1 42 init.cc:1] Try loading\ndemo: declined: too old\n" + SKIP
    made = judge(Answer(0, NONE, log), "demo")
    assert made.line.startswith("Skipped lib [/x/lib.so]")
    assert made.said == ["demo: declined: too old"]


def test_types_in_host_memory_are_told_of_what_was_loaded() -> None:
    told = 'paddock-host-memory ["demo"]\n'
    assert judge(Answer(0, told + DEMO, ""), "demo").host_memory == ["demo"]
    assert judge(Answer(0, DEMO, ""), "demo").host_memory == []


def fake(folder: Path, text: str) -> Path:
    """An interpreter that is a shell script."""
    path = folder / "python"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def test_a_hang_is_cut_and_blamed_on_the_plugin_only_when_paddle_is_well(tmp_path: Path) -> None:
    hang = '[ "${CUSTOM_DEVICE_ROOT-unset}" = unset ] && sleep 60\n'
    sick = fake(tmp_path, hang + "echo 'paddock-device-types []'\n")
    assert load(sick, "demo", limit=1.0).verdict == "hangs"
    both = fake(tmp_path, "echo 'ImportError: no paddle' >&2; exit 1\n")
    made = load(both, "demo", limit=5.0)
    assert (made.verdict, made.line) == ("paddle", "ImportError: no paddle")


def test_an_interpreter_that_does_not_start(tmp_path: Path) -> None:
    assert load(tmp_path / "none", "demo").verdict == "paddle"
