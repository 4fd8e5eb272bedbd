"""What the data demands of figures: a falling loss, speeds and memory within their ranges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from checks.smoke.process import Event
from checks.smoke.report import LevelReport, judge
from checks.smoke.settings import Smoke, settings_of
from checks.smoke.show import level_lines
from provision.errors import PaddockError
from provision.paths import IMAGES
from tests.smoke.values import check, ended, good

SETTINGS = settings_of(IMAGES / "loopback")
FALLING = [8.0 - step / 4 for step in range(12)]
SPEEDS = {
    "load_seconds": 3.2, "first_token_seconds": 0.4124, "first_token_spread": 0.02,
    "token_seconds": 0.25, "token_spread": 0.13, "tokens_per_second": 4.0, "peak_bytes": 545916160,
}  # fmt: skip


def events(figures: dict[str, float], losses: list[float]) -> list[Event]:
    told: list[Event] = [{"event": "figure", "name": k, "value": v} for k, v in figures.items()]
    return [*good()[:-1], *told, {"event": "series", "name": "loss", "values": losses},
            {"event": "end"}]  # fmt: skip


def trained(losses: list[float]) -> LevelReport:
    ends = {"loss_first": losses[0], "loss_last": losses[-1]} if losses else {}
    return judge("train", "loopback", [ended(events(ends, losses))], SETTINGS)


def test_a_falling_loss_passes_and_is_told() -> None:
    report = trained(FALLING)
    assert report.passed
    assert report.checks[-1].name == "loss_falls"
    assert "falls from 7.75 to 5.5" in report.checks[-1].detail
    assert report.series == {"loss": FALLING}
    assert "loss 8.000 -> 5.250" in level_lines(report)[0]


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        (FALLING[::-1], "rises"),
        ([7.6] * 12, "7.6"),
        ([7.6 + 0.001 * (-1) ** n for n in range(12)], "7.6"),
        (FALLING[:4], "4"),
        ([], "0"),
    ],
)
def test_a_loss_that_does_not_fall_fails_the_level(losses: list[float], said: str) -> None:
    report = trained(losses)
    assert not report.passed
    failed = [one for one in report.checks if not one.passed]
    assert [one.name for one in failed] == ["loss_falls"]
    assert said in str(failed[0].error)


def measured(**more: float) -> LevelReport:
    return judge("perf", "loopback", [ended(events(SPEEDS | more, []))], SETTINGS)


def test_speeds_within_their_ranges_pass_and_are_told() -> None:
    report = measured()
    assert report.passed
    first, second = level_lines(report)
    assert "first token 412 ms, then 4/s" in first
    assert "loaded in 3 s, at most 520 MiB" in second
    assert "first token 2%, later ones 13%" in second


@pytest.mark.parametrize("peak", [600e6 * 2, 1.0, float("nan")])
def test_a_figure_outside_of_its_range_fails_with_the_source(peak: float) -> None:
    report = measured(peak_bytes=peak)
    failed = [one for one in report.checks if not one.passed]
    assert [one.name for one in failed] == ["peak_bytes_range"]
    assert "134,515,008 weights of 4 bytes" in str(failed[0].error)


def test_a_figure_that_is_missing_fails() -> None:
    report = judge("perf", "loopback", [ended(good())], SETTINGS)
    assert [one.error for one in report.checks if not one.passed] == ["not measured"]


def test_a_level_that_failed_is_not_asked_for_figures_too() -> None:
    broken = [*good()[:-1], *check("three", passed=False), {"event": "end"}]
    report = judge("perf", "loopback", [ended(broken)], SETTINGS)
    assert [one.name for one in report.checks if not one.passed] == ["three"]
    assert "1 of 4" in level_lines(report)[0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("on_device = false", "on_device = true", "`reason` belongs to"),
        ("steps = 12", "steps = 0", "$.train.steps"),
        ("share = 0.25", "share = 0.7", "$.train.falls.share"),
        ("high = 645_672_038", "", "$.perf.ranges"),
        ("repeats = 3", "", "$.perf"),
    ],
)
def test_settings_without_sense_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    content = (IMAGES / "loopback" / "smoke.toml").read_text(encoding="utf-8")
    assert content.count(old) == 1
    (tmp_path / "smoke.toml").write_text(content.replace(old, new), encoding="utf-8")
    with pytest.raises(PaddockError) as failure:
        settings_of(tmp_path)
    assert said in str(failure.value)


@pytest.mark.parametrize(
    "known",
    [
        msgspec.to_builtins(SETTINGS) | {"train": None},
        msgspec.to_builtins(SETTINGS)
        | {"silence": msgspec.to_builtins(SETTINGS.silence) | {"train": None}},
    ],
)
def test_a_level_without_its_table_is_refused(known: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match="level `train` needs a `train`"):
        msgspec.convert(known, Smoke)
