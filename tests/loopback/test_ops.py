"""The fused operators: right against the plain formulas, clear about wrong input."""

from __future__ import annotations

import pytest

from tests.loopback.conftest import Probe

NAMES = {
    "rms_norm": "rms_norm_loopback",
    "rotary": "fused_rotary_embedding_loopback",
    "attention": "fused_sdp_flash_attention_loopback",
}


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", "loopback"])
@pytest.mark.parametrize("op", NAMES)
def test_operator_equals_the_plain_formula(probe: Probe, op: str, device: str) -> None:
    report = probe("ops.py", op, device).report
    assert report["wrong"] == []
    ran = {NAMES[op]: report["cases"], NAMES[op] + "_grad": report["cases"]}
    assert report["counts"] == ran


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_cores(probe: Probe) -> None:
    every = probe("ops.py", "attention", "loopback").report["digest"]
    assert probe("ops.py", "attention", "loopback", PROBE_ONE_CORE="1").report["digest"] == every


def test_gradients_match_finite_differences(probe: Probe) -> None:
    report = probe("ops_checks.py", "differences").report
    assert set(report) == set(NAMES)
    for op, error in report.items():
        assert error < 1e-7, op


def test_views_are_taken_as_they_are(probe: Probe) -> None:
    assert probe("ops_checks.py", "views").report == {"rms_norm": 0, "rotary": 0, "attention": 0}


def test_wrong_input_is_refused_by_name(probe: Probe) -> None:
    report = probe("ops_checks.py", "refusals").report
    assert len(report) >= 10
    for wanted, message in report:
        assert wanted in message
