"""The arithmetic of the benchmarks, and that a failing command is noticed. No time is judged."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cost import Command, CommandFailed, Cost, extra, in_turn, medians, output_of, ratio, run
from bench.watch import watch

positive = st.floats(min_value=1e-3, max_value=1e3)


def costs(*walls: float) -> list[Cost]:
    return [Cost(wall, wall / 2) for wall in walls]


def python(code: str, folder: Path, **more: str) -> Command:
    return Command([sys.executable, "-c", code], folder, more)


def test_the_ratio_is_the_median_of_neighbours_and_not_of_the_sides() -> None:
    # The machine is slow in the middle pair: each side's own medians would say 2 / 2.
    assert ratio(costs(1, 20, 2), costs(2, 10, 1)) == 2
    assert extra(costs(1, 20, 5), costs(2, 10, 1)) == 4


@given(st.lists(positive, min_size=1, max_size=9), positive)
def test_a_drift_of_the_machine_does_not_change_the_ratio(walls: list[float], times: float) -> None:
    ours = costs(*(wall * times for wall in walls))
    assert ratio(ours, costs(*walls)) == pytest.approx(times)


def test_both_sides_are_shown_in_a_fitting_unit() -> None:
    assert medians(costs(0.2), costs(0.1)) == ("wall 200 / 100 ms = 2x, cpu 100 / 50 ms = 2x")
    assert medians(costs(30), costs(60)) == "wall 30 / 60 s = 0.5x, cpu 15 / 30 s = 0.5x"


def test_the_commands_take_turns_and_the_first_round_is_not_counted(tmp_path: Path) -> None:
    note = "open('order', 'a').write(__import__('os').environ['NAME'])"
    sides = in_turn([python(note, tmp_path, NAME=name) for name in "AB"], 2)
    assert (tmp_path / "order").read_text() == "ABABAB"
    assert [len(side) for side in sides] == [2, 2]


def test_the_processor_time_of_children_counts(tmp_path: Path) -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    cost = run(python(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {busy!r}])",
                      tmp_path))  # fmt: skip
    assert cost.cpu >= 0.3


@pytest.mark.parametrize("measure", [run, output_of, watch])
def test_a_command_that_fails_is_no_measurement(measure, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(CommandFailed, match=r"exit status 3\n.*told why"):
        measure(python("print('told why'); raise SystemExit(3)", tmp_path))


def test_a_status_that_is_expected_is_no_failure(tmp_path: Path) -> None:
    run(Command([sys.executable, "-c", "raise SystemExit(10)"], tmp_path, statuses=(0, 10)))


def test_a_watched_command_has_a_terminal_and_the_peak_is_its_own(tmp_path: Path) -> None:
    child = "kept = bytearray(200_000_000); kept[::4096] = kept[::4096]"
    code = f"import subprocess, sys, time\nsubprocess.run([sys.executable, '-c', {child!r}])\n"
    alone = watch(python(f"{code}assert sys.stdout.isatty(); time.sleep(0.1)", tmp_path)).peak
    assert 1 < alone < 100
    own = watch(python(f"{child}\nimport time; time.sleep(0.1)", tmp_path)).peak
    assert own > 200
