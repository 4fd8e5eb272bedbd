"""The smoke tests on the real stack: they pass, and they notice what they are for."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checks.fit import memory
from checks.fit.wish import Wish
from checks.smoke import operators, tiny
from checks.smoke.report import LevelReport, judge
from checks.smoke.run import PROBES, Job, run_level, settings_of, start
from checks.smoke.settings import Level
from checks.smoke.text import evaluate
from provision.errors import PaddockError
from provision.paths import IMAGES

pytestmark = pytest.mark.slow

SETTINGS = settings_of(IMAGES / "loopback")
HERE = Path(__file__).parent
LIMIT = 600  # seconds, for a script of this folder
OPERATIONS = {"rms_norm", "add_rms_norm", "rotary", "attention", "swiglu", "qkv", "ffn"}
OWN = {
    "rms_norm_loopback", "fused_rotary_embedding_loopback", "fused_sdp_flash_attention_loopback",
}  # fmt: skip


def level(stack: Path, name: Level, settings: Any = SETTINGS, **variables: str) -> LevelReport:
    python = stack / "bin" / "python"
    return run_level(python, "loopback", settings, name, {**os.environ, **variables})


def script(stack: Path, name: str, given: object = None) -> Any:
    """The JSON that a script of this folder prints in the stack's environment, probes at hand."""
    result = subprocess.run(
        [stack / "bin" / "python", HERE / "scripts" / name], capture_output=True, text=True,
        input=json.dumps(given),
        env={**os.environ, "PYTHONPATH": str(PROBES)}, timeout=LIMIT, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-3000:]
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.parametrize(("name", "least"), [("device", 30), ("ops", 50)])
def test_a_level_passes_on_the_device(stack: Path, name: Level, least: int) -> None:
    report = level(stack, name)
    assert report.passed, report
    assert report.device == "loopback:0"
    assert len(report.checks) >= least
    assert report.native and report.fallback
    figures = report.figures
    if name == "ops":
        assert figures["attention.fused_sdp_flash_attention_loopback_strided_float32"] < 1e-4
        assert 0 < figures["rotary_ms"] < figures["rotary_plain_ms"]  # ten calls of the CPU's
        found = {(one.operation, one.name): one for one in report.operators}
        own = {key for key, one in found.items() if len(one.dtypes) == 4 and not one.on_cpu}
        assert {name for _, name in own} == OWN
        assert {key[0] for key, one in found.items() if one.dtypes} == OPERATIONS
        assert "swiglu" in found["swiglu", "swiglu"].on_cpu
        assert "float16" in found["swiglu", "swiglu"].absent
        assert "no kernel" in found["qkv_bias", "fused_linear"].absent["float32"]


def test_the_same_operators_are_tried_on_the_cpu_and_without_views(stack: Path) -> None:
    python = stack / "bin" / "python"
    given = {**os.environ, "FLAGS_use_stride_kernel": "0"}
    report = run_level(python, "cpu", SETTINGS, "ops", given)
    assert report.passed, report
    assert report.device == "cpu"
    assert {one.operation for one in report.operators if one.dtypes} >= OPERATIONS - {"rotary"}
    assert not {one.name for one in report.operators} & OWN
    assert not any(one.on_cpu for one in report.operators)
    assert report.figures["swiglu_ms"] > 0
    assert "FLAGS_use_stride_kernel" in report.skipped["non-contiguous inputs"]
    assert not any("strided" in one.name for one in report.checks)


def test_vendors_operators_are_called_as_they_are_made_and_wrong_ones_noticed(stack: Path) -> None:
    rows = [*operators.rows("gcu"), *(one for one in operators.rows("npu") if one["device"])]
    found = script(stack, "operators.py", rows)
    assert len(found["right"]) == 15
    assert {label: error for label, error in found["right"].items() if error} == {}
    wrong = found["wrong"]
    assert [mistake for mistake, error in wrong.items() if not error] == []
    assert "['new']" in wrong["new parameter"]
    assert "not registered by the plugin" in wrong["not there"]


def test_the_model_agrees_with_the_cpu_and_the_reference(stack: Path) -> None:
    report = level(stack, "model")
    assert report.passed, report
    figures = report.figures
    assert figures["perplexity_device"] == pytest.approx(figures["perplexity_cpu"], rel=1e-4)
    assert figures["perplexity_device"] == pytest.approx(SETTINGS.model.perplexity, rel=1e-3)
    assert report.native["rms_norm_loopback"] == 61
    assert report.fallback["matmul"] > 100
    [fused] = [one for one in report.checks if one.name == "paddlenlp_fused"]
    assert "15 gradients" in fused.detail


def test_a_tiny_model_is_trained(stack: Path) -> None:
    report = level(stack, "train")
    assert report.passed, report
    losses = report.series["loss"]
    assert len(losses) == SETTINGS.train.steps if SETTINGS.train else False
    assert report.figures["loss_last"] == losses[-1] < losses[0] - 1
    estimate = memory.most(tiny.MODEL, Wish(train=True, batch=tiny.BATCH, seq=tiny.LENGTH,
                                            dtype="float32", kernels="plain"))  # fmt: skip
    assert report.figures["peak_bytes"] == pytest.approx(estimate, rel=0.1)
    assert report.checks[0].name == "fits"
    assert "CCLGetUniqueId" in report.skipped["two processes"]
    assert {"resumed", "loss_falls"} <= {one.name for one in report.checks}


def test_a_checkpoint_that_is_not_read_whole_is_noticed(stack: Path) -> None:
    found = script(stack, "forgetful.py")
    assert found["right"] == ""
    assert "instead of" in found["weights"]
    assert "instead of" in found["nothing"]


def test_a_tiny_model_is_exported_and_run(stack: Path) -> None:
    report = level(stack, "deploy")
    assert report.passed, report
    assert report.device == "loopback:0"
    assert 0 < report.figures["largest_difference"] < 1e-5
    assert "on the CPU" in report.skipped["prediction on loopback"]


def test_speeds_are_measured(stack: Path) -> None:
    report = level(stack, "perf")
    assert report.passed, report
    figures = report.figures
    assert len(report.series["token_seconds"]) == 8
    assert figures["tokens_per_second"] == pytest.approx(1 / figures["token_seconds"])
    assert 0 < figures["token_seconds"] < figures["load_seconds"]
    assert report.native["contiguous"] > 0


@pytest.mark.parametrize("name", ["device", "ops"])
def test_a_plugin_that_did_not_load_fails(stack: Path, tmp_path: Path, name: Level) -> None:
    report = level(stack, name, CUSTOM_DEVICE_ROOT=str(tmp_path))
    assert not report.passed
    assert "Paddle loaded no plugin for it" in str(report.checks[0].error)
    assert report.device == ""


def test_a_failing_allocation_is_a_failed_check(stack: Path) -> None:
    report = level(stack, "device", LOOPBACK_FAULT="alloc:5")
    assert not report.passed
    assert [check for check in report.checks if not check.passed and check.name != "place"]


def test_a_hanging_stream_is_cut_and_named(stack: Path) -> None:
    silence = msgspec.structs.replace(SETTINGS.silence, device=8.0)
    settings = msgspec.structs.replace(SETTINGS, silence=silence)
    report = level(stack, "device", settings, LOOPBACK_FAULT="hang-stream")
    assert not report.passed
    assert "silent for 8 s, cut" in [check.error for check in report.checks]


def test_other_weights_and_another_text_are_refused(stack: Path) -> None:
    for field in ("weights_sha256", "text_sha256", "ids_sha256"):
        model = msgspec.structs.replace(SETTINGS.model, **{field: "0" * 64})
        job = Job("model.py", msgspec.structs.replace(SETTINGS, model=model).spec(), LIMIT)
        probe = start(stack / "bin" / "python", "loopback", job, os.environ)
        report = judge("model", "loopback", [probe])
        assert not report.passed
        assert any("sha256" in str(check.error) for check in report.checks)
        assert "perplexity_device" not in report.figures


def test_the_perplexity_notices_the_usual_mistakes(stack: Path) -> None:
    found = script(stack, "mistakes.py")
    assert found["rope_base"] > 1.02 * found["right"]
    assert found["permuted"] > 1.5 * found["right"]
    assert found["fused"] == pytest.approx(found["right"], rel=1e-5)


def test_the_tokenizer_agrees_with_another(stack: Path) -> None:
    found = script(stack, "tokens.py")
    assert found["texts"] > 100
    assert found["different"] == []


def test_a_text_of_the_user(stack: Path, tmp_path: Path) -> None:
    file = tmp_path / "文 本.txt"
    file.write_text("The quick brown fox jumps over the lazy dog. " * 4, encoding="utf-8")
    report = evaluate(stack / "bin" / "python", "loopback", file, 16, SETTINGS)
    assert report.device == "loopback:0"
    assert 30 < report.tokens < 60
    assert 1 < report.perplexity < 100


def test_a_text_of_one_token(stack: Path, tmp_path: Path) -> None:
    file = tmp_path / "one.txt"
    file.write_text("a", encoding="utf-8")
    with pytest.raises(PaddockError) as failure:
        evaluate(stack / "bin" / "python", "loopback", file, 512, SETTINGS)
    assert failure.value.code == "bad-text"
