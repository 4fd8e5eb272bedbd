"""The fused operators: their data, what a log tells of them, and how they are told and judged."""

from __future__ import annotations

import msgspec
import pytest

from checks.smoke import operators
from checks.smoke.process import Event, Log
from checks.smoke.report import LevelReport, judge
from checks.smoke.settings import Latency, Normal, Smoke, settings_of
from checks.smoke.show import level_lines
from provision.paths import IMAGES
from tests.smoke.values import begin, check, ended, proof

SETTINGS = settings_of(IMAGES / "ascend910b")
PADDLES = {"rms_norm", "add_rms_norm", "rotary", "attention", "swiglu", "qkv", "qkv_bias", "ffn"}
LOG = b"""\
I1130 05:10:52.3 10628 kernel_factory.cc:389] missing npu kernel: cast, x, fallbacking to CPU one!
paddock: in swiglu.swiglu
I1130 05:10:52.3 10628 kernel_factory.cc:389] missing npu kernel: swiglu, x, fallbacking to CPU one!
I1130 05:10:52.3 10628 kernel_factory.cc:389] missing npu kernel: swiglu, x, fallbacking to CPU one!
paddock: out
I1130 05:10:52.3 10628 kernel_factory.cc:389] missing npu kernel: scale, x, fallbacking to CPU one!
paddock: in rms_norm.rms_norm_npu
paddock: out
the last words
"""


@pytest.mark.parametrize("device", ["cpu", "loopback", "gcu", "npu"])
def test_each_device_has_paddles_operators_and_its_own(device: str) -> None:
    rows = operators.rows(device)
    assert {row["operation"] for row in rows if not row["device"]} == PADDLES
    own = {row["operation"] for row in rows if row["device"]}
    assert own == (set() if device == "cpu" else own | {"rms_norm", "rotary", "attention"})
    assert {row["device"] for row in rows} <= {"", device}


def test_an_operator_is_called_with_what_its_operation_has() -> None:
    """A name that no operation gives would be found on a card only."""
    source = (IMAGES.parent / "checks/smoke/probes/operations.py").read_text(encoding="utf-8")
    for device in ("loopback", "gcu", "npu"):
        for row in operators.rows(device):
            takes = row["takes"]
            assert isinstance(takes, dict)
            for value in takes.values():
                assert value == "none" or f'"{value}"' in source, row


def test_the_cpus_kernels_belong_to_the_operator_that_called_them() -> None:
    log = Log()
    log.read(LOG.splitlines(keepends=True))
    assert dict(log.marked) == {"swiglu.swiglu": {"swiglu"}}
    assert log.fallback == {"cast": 1, "swiglu": 2, "scale": 1}
    assert list(log.lines) == ["the last words"]


def told(operation: str, name: str, *dtypes: str, **more: object) -> Event:
    values = {"absent": {}, "partly": {}, "no_gradient": "", **more}
    return {"event": "operator", "operation": operation, "name": name, "dtypes": list(dtypes),
            **values}  # fmt: skip


def report(*events: Event, settings: Smoke | None = None, **first: object) -> LevelReport:
    """What is made of a run on a card that told this of operators."""
    start = {"event": "begin", "registered": ["cpu", "npu"], "counters": None, **first}
    end = [proof("npu:0", None), {"event": "end"}]
    probe = ended([start, *check("one"), *events, *end])
    probe.fallback_in = {"swiglu.swiglu": {"swiglu_grad", "swiglu"}}
    return judge("ops", "npu", [probe], settings)


def test_who_ran_and_what_is_not_there_is_told() -> None:
    found = report(
        told("rms_norm", "rms_norm_npu", "float16"),
        told("swiglu", "swiglu", "float32", absent={"float16": "no kernel swiglu"}),
        told("attention", "sdpa", "float32", partly={"float32": "2 of 7: not implemented: x"}),
        told("qkv_bias", "fused_linear", absent={"float32": "no kernel fused_gemm_epilogue"}),
    )
    assert found.passed
    assert found.operators[1].on_cpu == ["swiglu", "swiglu_grad"]
    first, *more = level_lines(found)
    assert "3 fused operators right on npu:0" in first
    assert any(line.endswith("kernels of npu:0: rms_norm_npu, sdpa") for line in more)
    assert any("of the CPU" in line and line.endswith(": swiglu") for line in more)
    assert any("in part: sdpa (2 of 7: not implemented: x)" in line for line in more)
    assert any("not tested: fused_linear (qkv_bias)" in line for line in more)


def test_what_is_not_there_has_neither_passed_nor_failed() -> None:
    events = [{"event": "start", "name": "a"}, {"event": "absent", "name": "a", "reason": "no"}]
    probe = ended([begin(), *check("one"), *events, proof(), {"event": "end"}])
    assert [one.name for one in judge("ops", "loopback", [probe]).checks] == ["one", "place"]
    died = ended([begin(), *check("one"), *events, {"event": "start", "name": "b"}], -11)
    failed = [one.name for one in judge("ops", "loopback", [died]).checks if not one.passed]
    assert failed[0] == "b"
    nothing = ended([begin(), *events, proof(), {"event": "end"}])
    assert not judge("ops", "loopback", [nothing]).passed


def normal(value: float | None, **first: object) -> LevelReport:
    """A run on a card whose RMSNorm took so many milliseconds."""
    figure: Event = {"event": "figure", "name": "rms_norm_mean_ms", "value": value}
    return report(*([] if value is None else [figure]), settings=SETTINGS, **first)


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.05, "within"), (0.1, "within"), (0.04, "faster than"), (0.2, "slower"), (0.3, "slower")],
)
def test_a_latency_beside_the_normal_range_is_told(value: float, said: str) -> None:
    found = normal(value)
    assert found.passed
    assert any(f"rms_norm_mean_ms {value:.3g}: {said}" in line for line in level_lines(found))


@pytest.mark.parametrize("value", [0.301, 5.0, float("nan"), None])
def test_a_suspicious_or_missing_latency_fails_with_its_source(value: float | None) -> None:
    found = normal(value)
    failed = [one for one in found.checks if not one.passed]
    assert [one.name for one in failed] == ["rms_norm_mean_ms_normal"]
    assert "Atlas 800I A2" in str(failed[0].error) or value is None


def test_no_latency_is_judged_but_on_a_card() -> None:
    assert normal(5.0, host_memory="libpaddle-custom-npu.so").passed
    probe = ended([begin({}), *check("one"), proof("cpu", {}), {"event": "end"}])
    found = judge("ops", "cpu", [probe], SETTINGS)
    assert found.passed and found.counted
    assert not any("not told by this plugin" in line for line in level_lines(found))


@pytest.mark.parametrize(("low", "high", "suspicious"), [(0, 1, 2), (2, 1, 3), (1, 3, 2)])
def test_a_normal_range_has_an_order(low: float, high: float, suspicious: float) -> None:
    given = {"low": low, "high": high, "suspicious": suspicious}
    values = {"figure": "a", "source": "s", "seen": "2026-11", **given}
    with pytest.raises(msgspec.ValidationError, match="in this order"):
        msgspec.convert(values, Normal)


def test_what_is_normal_is_stated_for_the_shape_that_is_measured() -> None:
    latency = SETTINGS.latency
    assert isinstance(latency, Latency)
    assert (latency.tokens, latency.heads * latency.size) == (4096, 4096)
    assert latency.dtype == "float16"
