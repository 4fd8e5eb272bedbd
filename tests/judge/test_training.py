"""The judges of training and deployment, and of what a log says of operators."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from checks.judge import deploy, reading
from checks.judge.levels import levels
from checks.judge.names import names
from tests.judge.conftest import Judge, keys, only
from tests.judge.logs import NPU_BEGIN, PASSES, header, prediction, step_line, training


def test_a_good_run_passes(judged: Judge) -> None:
    for lines in (training(), training(colour=True), training(total=1500)):
        found = judged(lines)
        assert found.outcome == "passed", keys(found, "failed") | keys(found, "unknown")
        assert (only(found).level, only(found).target) == ("train", "ascend910b")
    assert only(judged(training())).figures["speed"] == 0.05


def test_an_old_release_prints_batches_in_place_of_steps(judged: Judge) -> None:
    """Its interval_steps_per_second is per micro batch; the interval's length tells the speed."""
    lines = [line.replace("steps_per_second: 0.05", "steps_per_second: 6.4") for line in training()]
    assert only(judged(lines)).figures["speed"] == 0.05


def test_figures_on_several_lines_and_as_a_dictionary(judged: Judge) -> None:
    wrapped = [line.replace(", ", ",\n\t\t") if "global_step" in line else line
               for line in training()]  # fmt: skip
    assert judged(wrapped).outcome == "passed"
    rows = [f"{{'loss': {3 - n / 50}, 'learning_rate': 4e-05, 'global_step': {n}, 'epoch': 1.0}}"
            for n in range(1, 101)]  # fmt: skip
    found = judged([NPU_BEGIN, *rows])
    assert keys(found, "holds") >= {"falls", "device"}


@pytest.mark.parametrize(
    ("lines", "outcome", "key"),
    [
        (training([2.5 + n / 100 for n in range(100)]), "failed", "rises"),
        (training([2.5] * 100), "failed", "stuck"),
        (training([2.5 + (n % 2) / 1000 for n in range(100)]), "unknown", "flat"),
        (training(["nan" if n in (2, 3) else 2.0 for n in range(100)]), "failed", "not-finite"),
        (training(["inf" if n == 50 else 2.0 for n in range(100)]), "failed", "not-finite"),
        (training([2.4, 2.3, 2.2], total=3), "unknown", "few-steps"),
        (training([round(2.4 - n / 100, 4) for n in range(60)], end=False), "unknown", "steps-cut"),
        (training(device=False), "unknown", "device-missing"),
        ([line.replace("loss: 2.", "loss: 2,").replace("loss: 1.", "loss: 1,")
          for line in training()], "unknown", "unreadable"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(judged: Judge, lines: list[str], outcome: str, key: str) -> None:
    found = judged(lines)
    assert (found.outcome, key in keys(found, outcome)) == (outcome, True), only(found).reasons


def test_the_rule_for_a_falling_loss_is_not_fooled_by_one_step(judged: Judge) -> None:
    losses: list[float | str] = [round(3 * math.exp(-n / 60), 5) for n in range(100)]
    losses[-1] = 9.0
    assert judged(training(losses)).outcome == "passed"


def test_a_good_prediction_passes(judged: Judge) -> None:
    found = judged(prediction())
    assert (found.outcome, only(found).level) == ("passed", "deploy")


@pytest.mark.parametrize(
    ("lines", "outcome", "key"),
    [
        (prediction(passes=PASSES[:5]), "failed", "passes-missing"),
        (prediction(passes=()), "unknown", "passes-unseen"),
        (prediction(answer=""), "failed", "answer-empty"),
        (prediction()[:9], "unknown", "answer-missing"),
        ([line + "\nI0309 08:00:01.1 7 fuse_pass_base.cc:59] ---  detected 0 subgraphs"
          if "attention_layer]" in line else line for line in prediction()],
         "failed", "passes-idle"),
    ],
)  # fmt: skip
def test_a_bad_prediction_is_named(
    judged: Judge, lines: list[str], outcome: str, key: str
) -> None:  # fmt: skip
    found = judged(lines)
    assert (found.outcome, key in keys(found, outcome)) == (outcome, True), only(found).reasons


def test_exported_files(tmp_path: Path) -> None:
    found = levels("ascend910b")
    assert found and found.deploy
    for name in ("model.json", "config.json"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "model.pdiparams").write_bytes(b"")  # the disk was full
    reasons = list(deploy.files(tmp_path, found.deploy))
    assert [one.values["file"] for one in reasons if one.state == "failed"] == ["model.pdiparams"]
    (tmp_path / "model.pdiparams").write_bytes(b"1")
    assert all(one.state == "holds" for one in deploy.files(tmp_path, found.deploy))


def test_names_of_torch_npu(judged: Judge) -> None:
    """The article's names are in no release; a real one that is missing is a matter of versions."""
    found = judged(["linear_activation", "torch_npu.npu.linear_activation: False",
                    "torch_npu.npu_rms_norm: True", "torch_npu.npu_swiglu False"])  # fmt: skip
    assert keys(found, "failed") == {"name-wrong", "name-unregistered"}
    raised = judged(["AttributeError: module 'torch_npu.npu' has no attribute 'fused_add_norm'"])
    [reason] = only(raised).reasons
    assert "npu_add_rms_norm" in str(reason.values["instead"])
    invented = judged(["torch_npu.npu.layer_norm True"])
    assert keys(invented, "unknown") == {"name-invented"}


def test_a_list_of_names(judged: Judge) -> None:
    every = [name.removeprefix("torch_npu.") for name, row in names().items() if row.returns]
    assert judged([repr(sorted(every))]).outcome == "passed"
    found = judged(sorted(set(every) - {"npu_swiglu"}))
    [reason] = only(found).reasons
    assert (found.outcome, reason.values["names"]) == ("failed", "torch_npu.npu_swiglu")


def test_what_the_graph_engine_fused(judged: Judge) -> None:
    line = "[INFO] GE(77,python):2026-03-09-08:00:00.123.456 [graph_manager.cc:1]77 Build: graph 1"
    assert keys(judged([line]), "unknown") == {"autofused-none"}
    found = judged([line, f"{line} node autofuse_pointwise_0_Add_Mul type AscBackend"])
    assert (found.outcome, only(found).figures["autofused"]) == ("passed", 1)
    names = ("pointwise_0_Add_Mul", "pointwise_1_Abs_Relu_Exp", "reduce_2_Square_ReduceMean_Add",
             "slice_split_3_Split", "4_Add_Rsqrt", "fused_5_Sub", "pointwise_1_Abs_Relu_Exp",
             "pointwise_6_AddN")  # fmt: skip
    found = judged([f"{line} node autofuse_{name} type AscBackend" for name in names])
    counts = {key: n for key, n in only(found).figures.items() if key.startswith("autofused")}
    assert counts == {
        "autofused": 7, "autofused_again": 1, "autofused_fused": 1, "autofused_pointwise": 3,
        "autofused_reduce": 1, "autofused_slice_split": 1,
    }  # fmt: skip
    [reason] = [one for one in only(found).reasons if one.key == "autofused"]
    assert "pointwise 3" in reason.sentence and "3 of them with an Add" in reason.sentence


def test_nothing_to_judge(judged: Judge) -> None:
    found = judged(["all is well", header(3) + "hello", step_line(1, 2.0, 1)[:30]])
    assert (found.verdicts, found.outcome, found.status) == ([], "unknown", 12)


def test_of_a_talkative_log_some_lines_are_read_and_nan_is_found(
    judged: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log has to be longer than one piece, of which the ends are read."""
    monkeypatch.setattr(reading, "WHOLE", 200)
    losses: list[float | str] = [round(2.4 - n * 1e-5, 6) for n in range(20_000)]
    found = judged(training(losses, total=20_000))
    assert found.reading.logs[0].seen.sampled
    assert found.outcome == "passed"
    assert only(found).figures["step"] == 20_000
    assert only(found).figures["speed"] == 0.05  # not that of the steps left out
    losses[14_234] = "nan"
    found = judged(training(losses, total=20_000))
    [cause] = [one for one in found.causes if one.key == "nan"]
    assert (found.outcome, cause.values["step"]) == ("failed", 14_235)
