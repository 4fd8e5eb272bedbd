"""The stand-in for npu-smi answers as the measure says, and only its limits are shortened."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bench import cards
from bench.cost import Command, Cost, output_of
from provision.document import read
from provision.facts import outputs
from provision.facts.questions import Command as Question
from provision.facts.questions import Output, Questions, questions
from provision.paths import IMAGES


@pytest.mark.parametrize("in_trouble", [0, 4])
def test_the_stand_in_shows_its_cards_and_notes_the_question(
    tmp_path: Path, in_trouble: int
) -> None:
    folder = cards._answers(tmp_path / "answers", 0.1, in_trouble)
    text = output_of(Command([folder / "npu-smi", "info"]))
    assert outputs.unwell([Output("npu-smi info", text)]) == list(range(in_trouble))
    assert text.count("910B3") == cards.CARDS
    assert "80E01801" in output_of(Command([folder / "npu-smi", "info", "-t", "health", "-i", "3"]))
    assert (folder / "asked").read_text().splitlines() == ["info", "info -t health -i 3"]


def test_only_the_limits_of_npu_smi_are_shortened(tmp_path: Path) -> None:
    copy = tmp_path / "questions.toml"
    shutil.copy(IMAGES / "questions.toml", copy)
    cards.shorten(copy)
    short = read(copy, Questions, Question)
    for before, after in zip(questions().commands, short.commands, strict=True):
        is_tool = before.command[0] == "npu-smi"
        assert after.limit == (cards.LIMIT if is_tool else before.limit)
        assert after.command == before.command


def test_a_bare_task_counts_for_nothing() -> None:
    ours, plain, probed = ([Cost(wall, 0)] * 3 for wall in (1.4, 0.2, 1.0))
    assert cards.relative(ours, plain, probed) == pytest.approx(1.2)
