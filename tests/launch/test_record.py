"""A run of a recipe in the record that `history` and `report` read."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from checks.judge.diagnose import Diagnosis, look
from checks.judge.levels import Levels, levels
from checks.judge.verdict import holds
from checks.launch import record
from checks.launch.live import Ended
from checks.launch.record import Result
from checks.launch.watch import Usage
from checks.launch.wish import Filled, Wish, filled
from checks.runs.record import Run, keep, runs
from checks.runs.telling import run_line
from checks.smoke.report import LevelReport
from provision import stack
from provision.site import Site
from tests.judge.logs import evaluation, text, training

BUSY = Usage(dict.fromkeys(range(8), 3400), dict.fromkeys(range(8), 30000), looks=3)


def known(target: str) -> Levels:
    found = levels(target)
    assert found
    return found


def one_of(target: str, name: str, cards: tuple[int, ...] = ()) -> Filled:
    _, [one] = filled(Wish(target, "all", name, cards))
    return one


def result(folder: Path, one: Filled, target: str, log: bytes, usage: Usage = BUSY) -> Result:
    (folder / "run.log").write_bytes(log)
    found: Diagnosis = look([str(folder / "run.log")], target, 0)
    return Result(one, folder, Ended(0, 0.0, 61.5), found, usage)


def level(folder: Path, name: str, log: bytes, usage: Usage = BUSY, **more: object) -> LevelReport:
    one = msgspec.structs.replace(one_of("ascend910b", name), **more)
    made = result(folder, one, "ascend910b", log, usage)
    return record.report([made], known("ascend910b"), None).levels[0]


def test_the_figures_of_a_training_run(tmp_path: Path) -> None:
    found = level(tmp_path, "sft", text(training()))
    assert (found.level, found.passed, found.device, found.seconds) == ("train", True, "npu", 61.5)
    figures = found.figures
    assert figures["sft.steps_per_second"] == 0.05
    assert figures["sft.tokens_per_second"] == pytest.approx(0.05 * 2 * 64 * 4096)
    assert (figures["sft.steps"], figures["sft.first_loss"]) == (100, 2.4)
    assert len(found.series["sft.loss"]) == 100
    assert found.log == ()
    assert {one.name for one in found.checks} >= {"sft/falls", "sft/steps-done", "sft/device"}


def test_pretraining_counts_its_copies(tmp_path: Path) -> None:
    """Eight cards hold two copies of the model; each has 32 times 2 sequences."""
    found = level(tmp_path, "pretrain", text(training()))
    wanted = 0.05 * 2 * 32 * 2 * 4096
    assert found.figures["pretrain.tokens_per_second"] == pytest.approx(wanted)


def test_sequences_of_their_own_length_have_no_number_of_tokens(tmp_path: Path) -> None:
    arguments = {**one_of("ascend910b", "sft").arguments, "pad_to_multiple_of": "8"}
    found = level(tmp_path, "sft", text(training()), arguments=arguments)
    assert "sft.tokens_per_second" not in found.figures


def test_a_perplexity(tmp_path: Path) -> None:
    one = one_of("s60", "perplexity")
    usage = Usage({0: 0}, {0: 27000}, looks=1)
    made = result(tmp_path, one, "s60", text(evaluation()), usage)
    found = record.report([made], known("s60"), None)
    figures = found.levels[0].figures
    assert (found.passed, found.device, figures["perplexity.perplexity"]) == (True, "gcu", 12.785)
    assert figures["perplexity.tokens_per_second"] == pytest.approx(1.42 * 4 * 32)


@pytest.mark.parametrize(
    ("usage", "log"),
    [
        (Usage(), training()),
        (Usage(BUSY.before, BUSY.before, looks=9), training()),
        (BUSY, training(device=False)),
    ],
)
def test_what_is_not_proved_has_no_device(tmp_path: Path, usage: Usage, log: list[str]) -> None:
    assert level(tmp_path, "sft", text(log), usage).device == ""


def test_a_run_that_failed_keeps_its_log_and_no_nan(tmp_path: Path) -> None:
    losses: list[float | str] = [2.4, 2.3, "nan", "inf", "nan", "nan", "nan", "nan", "nan"]
    found = level(tmp_path, "sft", text([*training(losses, total=9), "the last line"]))
    assert (found.passed, found.log[-1]) == (False, "the last line")
    assert found.series["sft.loss"] == [2.4, 2.3]
    assert "sft.loss" not in found.figures
    assert "NaN" not in json.dumps(msgspec.to_builtins(found))


def test_other_cards_are_other_figures(tmp_path: Path) -> None:
    found = level(tmp_path, "sft", text(training()), cards=tuple(range(16)))
    assert "sft-16-cards.loss" in found.figures


def test_a_long_run_has_a_curve_of_a_thousand_points(tmp_path: Path) -> None:
    losses = [3 - n / 4000 for n in range(3000)]
    found = level(tmp_path, "sft", text(training(losses, total=3000)))
    assert 500 < len(found.series["sft.loss"]) <= 1000


def test_the_record_is_read_again_and_names_a_stand_in(tmp_path: Path, home: Path) -> None:
    made = result(tmp_path, one_of("ascend910b", "sft"), "ascend910b", text(training()))
    made.found.verdicts[0].reasons.append(holds("status-zero"))
    report = record.report([made], known("ascend910b"), "no card computes")
    file = stack.stack_file("ascend910b")
    written, lost = keep(stack.load(file), file.parent, report)
    [found] = runs(Site("ascend910b"))
    assert (lost, found) == ("", written)
    assert isinstance(found, Run) and found.stand_in == "no card computes"
    assert "npu" not in run_line(found).split()
