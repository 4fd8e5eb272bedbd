"""The plugin as Paddle sees it: streams, memory, devices, faults, counts."""

from __future__ import annotations

import subprocess

import pytest

from tests.loopback.conftest import Probe

MEGABYTE = 1 << 20


def test_streams_are_asynchronous_and_keep_their_order(probe: Probe) -> None:
    report = probe("device.py", "stream", LOOPBACK_FAULT="slow-stream:400").report
    assert report["queued"] < 0.2
    assert report["busy"]
    assert report["done"] >= 0.4
    assert report["idle"]
    assert report["right"]


def test_events_are_done_when_the_work_before_them_is(probe: Probe) -> None:
    report = probe("device.py", "event", LOOPBACK_FAULT="slow-stream:300").report
    assert report == {"early": False, "late": True}


def test_memory_has_a_limit_and_recovers(probe: Probe) -> None:
    report = probe("device.py", "memory", LOOPBACK_MEMORY_MB="16").report
    assert report["count"] == 16
    assert "Out of memory error on loopback:0" in report["failure"]
    assert report["sum"] == MEGABYTE // 4
    device = report["stats"]["devices"][0]
    assert device["limit_bytes"] == device["peak_bytes"] == 16 * MEGABYTE
    assert device["failed_allocations"] >= 1


def test_two_devices_keep_their_own_memory(probe: Probe) -> None:
    report = probe("device.py", "two", LOOPBACK_DEVICES="2").report
    assert report["devices"] == ["loopback:0", "loopback:1"]
    assert report["before"] == [0, 0]
    assert report["used"][0] == 0
    assert report["used"][1] >= 2 * 65536 * 8
    assert report["after"][0] >= 65536 * 8
    assert report["places"] == [f"Place(loopback:{i})" for i in (1, 1, 0)]
    assert report["d2d"] == {"count": 1, "bytes": 65536 * 8}
    assert report["right"]


def test_one_allocation_can_be_made_to_fail(probe: Probe) -> None:
    report = probe("device.py", "allocation", LOOPBACK_FAULT="alloc:1").report
    assert report["results"] == [-1.0] + [MEGABYTE / 4] * 4
    assert report["stats"]["devices"][0]["failed_allocations"] == 1


def test_without_the_fault_none_fails(probe: Probe) -> None:
    assert probe("device.py", "allocation").report["results"] == [MEGABYTE / 4] * 5


@pytest.mark.slow
def test_a_hanging_stream_is_cut_by_the_time_limit(probe: Probe) -> None:
    with pytest.raises(subprocess.TimeoutExpired) as cut:
        probe("device.py", "hang", limit=15, LOOPBACK_FAULT="hang-stream")
    assert b"started" in (cut.value.stdout or b"")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOOPBACK_DEVICES", "0"),
        ("LOOPBACK_DEVICES", "65"),
        ("LOOPBACK_DEVICES", "2x"),
        ("LOOPBACK_MEMORY_MB", ""),
        ("LOOPBACK_MEMORY_MB", "-5"),
        ("LOOPBACK_MEMORY_MB", "99999999999999999999"),
        ("LOOPBACK_FAULT", "alloc:0"),
        ("LOOPBACK_FAULT", "hang"),
        ("LOOPBACK_FAULT", "慢"),
    ],
)
def test_a_wrong_value_is_named_and_the_plugin_declines(
    probe: Probe, name: str, value: str
) -> None:
    outcome = probe("device.py", "types", **{name: value})
    assert outcome.report == {"types": []}
    assert f"loopback: declined: {name}={value} is not valid: give" in outcome.stderr


def test_what_happens_is_counted(probe: Probe) -> None:
    report = probe("device.py", "counts").report
    first, second = report["first"], report["second"]
    assert first["kernels"] == {"contiguous": 1}
    assert first["copies"]["h2d"] == {"count": 1, "bytes": 1024}
    assert first["copies"]["d2h"] == {"count": 1, "bytes": 1024}
    assert second["kernels"] == {}
    assert second["copies"]["d2h"] == {"count": 0, "bytes": 0}
    assert second["devices"][0]["bytes_in_use"] > 0
    assert report["version"]["interface_bytes"].isdigit()


def test_paddle_is_content_with_one_device(probe: Probe) -> None:
    outcome = probe("device.py", "check")
    assert outcome.report == {"device": "loopback:0"}
    assert "works well on 1 loopback" in outcome.stdout


def test_a_forked_child_ends(probe: Probe) -> None:
    assert probe("device.py", "fork", limit=60).report == {"child": 7}


@pytest.mark.slow
def test_kernels_equal_numpy(probe: Probe) -> None:
    report = probe("kernels.py").report
    assert report["wrong"] == []
    assert report["cases"] > 500
    assert set(report["kernels"]) == {"contiguous", "strided_copy", "fill"}
