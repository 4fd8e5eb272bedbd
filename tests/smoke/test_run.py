"""Levels, settings, and the lines that a person sees."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from checks.fit.cards import Card
from checks.smoke import tiny
from checks.smoke.report import LevelReport, judge
from checks.smoke.run import LEVELS, PROBES, SCRIPTS, levels_of, run_smoke, settings_of
from checks.smoke.settings import Level
from checks.smoke.show import level_lines
from provision.amounts import duration
from provision.errors import PaddockError
from provision.paths import IMAGES
from tests.smoke.values import begin, check, ended, good, proof

FOLDER = IMAGES / "loopback"
SETTINGS = settings_of(FOLDER)


def test_levels_by_name() -> None:
    assert levels_of("all") == LEVELS == SETTINGS.levels
    assert levels_of("ops") == ("ops",)
    with pytest.raises(PaddockError, match=r"device, ops, model, train.*, all; nearest: model"):
        levels_of("modle")


def test_every_probe_is_there() -> None:
    scripts = {script for level in LEVELS for script in SCRIPTS[level]}
    assert {"device.py", "model.py"} <= scripts
    assert all((PROBES / script).is_file() for script in scripts | {"perplexity.py"})


def test_the_settings_are_whole() -> None:
    spec = json.loads(json.dumps(SETTINGS.spec()))
    assert spec["tolerance"]["float32"] == [1e-5, 1e-6]
    assert "source" not in spec["tolerance"]
    assert 0 < SETTINGS.silence.limit("device") <= SETTINGS.silence.limit("model")


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("agreement = 1e-4", "agreement = 2.0", "stack-type", "$.model.agreement"),
        ("tokens = 1024", "tokens = '1024'", "stack-type", "$.model.tokens"),
        ("window = 512", "windows = 512", "stack-field", "$.model.windows"),
        ("window = 512", "windows = 512", "stack-field", "nearest: window"),
        ("[tolerance]", "[tolerance", "stack-syntax", "smoke.toml"),
    ],
)
def test_bad_settings(tmp_path: Path, old: str, new: str, code: str, said: str) -> None:
    content = (FOLDER / "smoke.toml").read_text(encoding="utf-8")
    assert old in content
    (tmp_path / "smoke.toml").write_text(content.replace(old, new), encoding="utf-8")
    with pytest.raises(PaddockError) as failure:
        settings_of(tmp_path)
    assert failure.value.code == code
    assert said in str(failure.value)


def test_missing_settings(tmp_path: Path) -> None:
    with pytest.raises(PaddockError, match=r"smoke\.toml"):
        settings_of(tmp_path)


def test_an_environment_without_python_fails_every_level(tmp_path: Path) -> None:
    lines: list[str] = []
    report = run_smoke(tmp_path / "python", "loopback", SETTINGS, {}, lines.append)
    assert not report.passed
    assert report.failed == list(LEVELS)
    assert all("No such file" in "".join(level.log) for level in report.levels)
    assert len([line for line in lines if "FAILED" in line]) == len(LEVELS)


@pytest.mark.parametrize("target", ["s60", "ascend910b"])
def test_a_vendors_target_has_the_levels_that_can_run_there(target: str) -> None:
    settings = settings_of(IMAGES / target)
    assert settings.levels == ("device", "ops", "model")
    assert not settings.counted
    assert settings.model.perplexity == SETTINGS.model.perplexity
    assert levels_of("all", settings.levels) == settings.levels
    assert settings.latency and settings.latency.dtype == "float16"
    with pytest.raises(PaddockError, match="device, ops, model, all"):
        levels_of("perf", settings.levels)


def test_a_proof_is_made_of_levels_that_there_are() -> None:
    assert SETTINGS.proof == ("device", "ops", "model")
    with pytest.raises(ValueError, match="`proof` names `perf`"):
        msgspec.structs.replace(SETTINGS, levels=("device",), proof=("device", "perf"))


def test_the_stand_in_comes_before_all_levels_and_once(tmp_path: Path) -> None:
    python = lying_python(tmp_path, "npu:0", host_memory="libpaddle-custom-npu.so")
    lines: list[str] = []
    settings = settings_of(IMAGES / "ascend910b")
    twice: tuple[Level, ...] = ("device", "device")
    report = run_smoke(python, "npu", settings, show=lines.append, levels=twice)
    assert report.passed
    assert lines[0].strip().startswith("on a stand-in in host memory, not on a card: npu")
    assert len([line for line in lines if "stand-in" in line]) == 1
    assert next(iter(msgspec.to_builtins(report))) == "stand_in"
    assert report.stand_in


def lying_python(folder: Path, place: str, **more: str) -> Path:
    """An interpreter that claims success for whatever it is asked to run."""
    events = [begin() | more, *check("one"), proof(place), {"event": "end"}]
    said = "\n".join(json.dumps(event) for event in events)
    file = folder / "python"
    file.write_text(f"#!/bin/sh\ncat > \"$3\" <<'EOF'\n{said}\nEOF\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def test_the_argument_is_no_proof_of_place(tmp_path: Path) -> None:
    python = lying_python(tmp_path, "cpu")
    report = run_smoke(python, "loopback", SETTINGS, levels=("device",))
    assert report.failed == ["device"]
    assert report.levels[0].device == "cpu"
    python = lying_python(tmp_path, "loopback:0")
    assert run_smoke(python, "loopback", SETTINGS, levels=("device",)).passed is True
    assert run_smoke(python, "loopback", SETTINGS, levels=("train", "perf")).failed == [
        "train", "perf"
    ]  # fmt: skip


@pytest.mark.parametrize("level", ["train", "deploy"])
def test_what_cannot_fit_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: Level
) -> None:
    python = lying_python(tmp_path, "loopback:0")
    small = Card(name="small", target="loopback", mib=1, source="", seen="", shared=True)
    monkeypatch.setattr(tiny, "cards_of", lambda *_: [small])
    report = run_smoke(python, "loopback", SETTINGS, levels=(level,)).levels[0]
    assert [one.name for one in report.checks] == ["fits"]
    assert "does not fit" in str(report.checks[0].error)
    assert "x fits" in level_lines(report)[1]


def test_memory_that_cannot_be_read_is_no_reason_not_to_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unread(*_: object) -> list[Card]:
        raise PaddockError("memory-unread")

    monkeypatch.setattr(tiny, "cards_of", unread)
    [found] = tiny.fits("loopback", "train")
    assert found.error is None and found.detail
    assert tiny.fits("loopback", "device") == []


def test_lines_of_a_level_that_passed() -> None:
    first, *more = level_lines(judge("device", "loopback", [ended(good())]))
    assert first.split()[0] == "device"
    assert "loopback:0" in first and "passed" in first and first.endswith("2 s")
    assert any("kernel calls: 6 native, 4 on the CPU" in line and "matmul" in line for line in more)


def test_lines_of_a_level_that_failed_name_check_and_cause() -> None:
    events = [begin(), *check("one"), *check("two", passed=False), proof(), {"event": "end"}]
    lines = level_lines(judge("model", "loopback", [ended(events)]))
    assert "1 of 3" in lines[0]
    assert any("x two: AssertionError: wrong" in line for line in lines)
    assert any("| the last line" in line for line in lines)


def model_report(**figures: float) -> LevelReport:
    report = judge("model", "loopback", [ended(good())])
    return msgspec.structs.replace(report, figures=figures)


def test_lines_of_the_model_and_the_operators_have_their_figures() -> None:
    report = model_report(perplexity_device=16.32412, perplexity_cpu=16.32411)
    assert "ppl 16.3241, cpu 16.3241" in level_lines(report)[0]
    report = msgspec.structs.replace(model_report(rms_norm_float32=2.4e-7), level="ops")
    assert "2.4e-07" in level_lines(report)[0]
    times = {f"{one}_{end}": 0.125 for one in ("rms_norm", "rotary", "ffn")
             for end in ("ms", "plain_ms")}  # fmt: skip
    report = msgspec.structs.replace(report, figures=times | {"rotary_plain_ms": 5.163})
    told = "RMSNorm 0.125 (0.125), RoPE 0.125 (5.16), FFN 0.125 (0.125)"
    assert any(told in line for line in level_lines(report))


def test_durations() -> None:
    said = [duration(seconds) for seconds in (0.2, 21.4, 59.7, 108.0)]
    assert said == ["0.2 s", "21 s", "1 min 0 s", "1 min 48 s"]
