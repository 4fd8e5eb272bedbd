"""`smoke --list`: every level of a target with what it proves and where its limits come from."""

from __future__ import annotations

import json

import pytest

from checks.smoke import listing
from provision.errors import PaddockError
from provision.paths import targets
from tests.conftest import Cli


@pytest.mark.parametrize("target", targets())
def test_each_level_has_a_sentence_and_each_limit_a_source(target: str) -> None:
    found = list(listing.rows(target))
    assert {"device", "model"} <= {row.level for row in found}
    assert len({row.proves for row in found}) == len(found)
    for row in found:
        assert row.limits, row
        assert all(one.source and one.seen and one.values for one in row.limits)
        assert bool(row.programs) is (row.kind == "program")


def test_the_figures_of_all_levels_are_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert listing.listing("loopback", json=False) == 0
    said = capfd.readouterr().out
    for part in ("perplexity 16.32437095", "learning_rate 0.001", "low 538060032", "share 0.25"):
        assert part in said
    assert "sha256" not in said


def test_programs_are_named_with_their_recipes(cli: Cli) -> None:
    result = cli("smoke", "--list", "--target", "ascend910b", "--json")
    document = json.loads(result.stdout)
    assert document["schema"] == "paddock/smoke-levels/1"
    rows = {(row["level"], row["kind"]): row for row in document["levels"]}
    assert rows["train", "program"]["programs"] == ["sft", "lora", "pretrain"]
    assert ("train", "test") not in rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--level", "perf", "--target", "ascend910b"], "device, ops, model, train, deploy, all"),
        (["--level", "trian"], "device, ops, model, train, deploy, perf, all; nearest: train"),
        (["--level", "train", "--dry-run"], "Level `train` of loopback runs no program"),
        (["--level", "perf", "--recipe", "x", "--target", "s60"], "Level `perf` of s60"),
        (["--list", "--level", "ops"], "--list and --level cannot"),
        (["--device", "gpu"], "--device cannot be `gpu`"),
        (["--device", "npu", "--target", "s60"], "gcu, cpu"),
        (["--device", "cpu", "--level", "train", "--target", "npu"], "--device and --level cannot"),
        (["--device", "cpu", "--text", "file"], "--text and --device cannot"),
        (["--list", "--text", "file"], "--list and --text cannot"),
        (["--list", "--target", "none"], "`none`"),
    ],
)
def test_what_cannot_be_is_said(cli: Cli, arguments: list[str], said: str) -> None:
    result = cli("smoke", *arguments)
    assert result.returncode == 2, result.stdout + result.stderr
    assert said in result.stderr


def test_an_unknown_target_is_an_error() -> None:
    with pytest.raises(PaddockError, match="none"):
        list(listing.rows("none"))
