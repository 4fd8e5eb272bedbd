"""The verdict: what passes a level, and every way in which it must not."""

from __future__ import annotations

import msgspec
import pytest

from checks.smoke.process import Ended, Event
from checks.smoke.report import SmokeReport, judge
from checks.smoke.show import level_lines
from tests.smoke.values import COUNTED, LATER, begin, check, ended, good, probe, proof


def failures(*probes: Ended) -> dict[str, str | None]:
    report = judge("device", "loopback", probes)
    failed = {one.name: one.error for one in report.checks if not one.passed}
    assert report.passed is not bool(failed)
    return failed


def test_a_good_probe_passes_with_place_and_counts() -> None:
    report = judge("device", "loopback", [ended(good())])
    assert report.passed
    assert [one.name for one in report.checks] == ["one", "two", "place"]
    assert report.device == "loopback:0"
    assert report.native == {"fill": 4, "contiguous": 2}
    assert report.fallback == {"matmul": 4}
    assert report.log == ()


def test_a_failed_check_fails_the_level_and_keeps_the_log() -> None:
    events = [begin(), *check("one"), *check("two", passed=False), proof(), {"event": "end"}]
    assert failures(ended(events)) == {"two": "AssertionError: wrong"}
    assert judge("device", "loopback", [ended(events)]).log == ("the last line",)


@pytest.mark.parametrize(
    ("status", "said"),
    [(None, "silent for 30 s, cut"), (-11, "killed by SIGSEGV"), (3, "exit status 3")],
)
def test_a_probe_that_died_in_a_check_names_it(status: int | None, said: str) -> None:
    events = [begin(), *check("one"), proof(), {"event": "start", "name": "two"}]
    assert failures(ended(events, status)) == {"two": said}


def test_a_signal_is_named_alike_in_both_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The known failures are looked for in these words, too."""
    monkeypatch.setenv("PADDOCK_LANG", "zh")
    said = failures(ended(good(), -11))["end"]
    assert said and "killed by SIGSEGV" in said and "进程" in said


def test_a_probe_that_died_after_its_checks_has_failed() -> None:
    assert failures(ended(good(), None)) == {"end": "silent for 30 s, cut"}
    assert failures(ended(good(), -6)) == {"end": "killed by SIGABRT"}
    assert failures(ended(good()[:-1])) == {"end": "ended without a result"}


def test_a_probe_that_wrote_nothing_has_failed() -> None:
    assert failures(ended([], 1)) == {"end": "exit status 1"}
    assert failures(ended([])) == {"end": "ended without a result"}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (proof("cpu"), "results on cpu, not on loopback"),
        (proof(cpu=1), "results on cpu, not on loopback"),
        ({"event": "proof", "places": {}, "counters": LATER}, "results on no device"),
        (proof(counters=COUNTED), "does not confirm it (h2d): no copy was counted"),
        (proof(counters=LATER | {"copies": {"h2d": {"count": 9}}}), "does not confirm it (d2h)"),
        (proof(counters={"unavailable": "RuntimeError: not loaded"}), "RuntimeError: not loaded"),
        ({"event": "other"}, "results on no device"),
    ],
)
def test_a_run_that_is_not_proven_to_be_on_the_device_fails(found: Event, said: str) -> None:
    failed = failures(ended([begin(), *check("one"), found, {"event": "end"}]))
    assert list(failed) == ["place"]
    assert said in str(failed["place"])


def test_the_cpu_needs_no_plugin() -> None:
    events = [begin({}), *check("one"), proof("cpu", {}), {"event": "end"}]
    assert judge("device", "cpu", [ended(events)]).passed
    assert not judge("device", "loopback", [ended(events)]).passed


def untold(registered: list[str], place: str = "npu:0", **more: object) -> Ended:
    """A probe on a device whose plugin tells no counts."""
    first = {"event": "begin", "registered": registered, "counters": None, **more}
    found = {"event": "proof", "places": {place: 3}, "counters": None}
    return ended([first, *check("one"), found, {"event": "end"}])


def test_a_plugin_without_counts_is_believed_by_place_and_type() -> None:
    report = judge("device", "npu", [untold(["cpu", "npu"])])
    assert report.passed
    assert not report.counted
    assert report.native == {}
    assert "not told by this plugin" in report.checks[-1].detail
    assert any("not told by this plugin" in line for line in level_lines(report))


@pytest.mark.parametrize(
    ("probe", "said"),
    [
        (untold(["cpu"]), "has not registered the type npu"),
        (untold(["cpu", "npu"], "cpu"), "results on cpu"),
        (ended([*untold(["cpu", "npu"]).events[:3], proof("npu:0", COUNTED)]), "ended without"),
    ],
)
def test_without_counts_nothing_else_is_excused(probe: Ended, said: str) -> None:
    report = judge("device", "npu", [probe])
    assert not report.passed
    assert any(said in str(one.error) for one in report.checks)


def test_counts_that_come_or_go_are_no_proof() -> None:
    events = [begin(), *check("one"), proof("npu:0", None), {"event": "end"}]
    assert not judge("device", "npu", [ended(events)]).passed


@pytest.mark.parametrize(
    ("device", "library", "said"),
    [("npu", "libpaddle-custom-npu.so", True), ("npu", "", False), ("loopback", "lib.so", False)],
)
def test_a_library_in_host_memory_is_a_stand_in_for_all_but_loopback(
    device: str, library: str, said: bool
) -> None:
    events = [begin() | {"host_memory": library}, *check("one"), proof(f"{device}:0")]
    report = judge("device", device, [ended([*events, {"event": "end"}])])
    assert report.passed
    assert (report.stand_in is not None) is said
    assert not said or library in str(report.stand_in)


def test_two_probes_make_one_level() -> None:
    figure = {"event": "figure", "name": "loss", "value": 2.5}
    ran = {"event": "ran", "kernels": {"rms_norm": 3, "fill": 1}}
    report = judge("model", "loopback", [ended([*good(), figure]), ended([ran, *good()])])
    assert report.passed
    assert report.figures == {"loss": 2.5}
    assert report.native == {"fill": 9, "contiguous": 4, "rms_norm": 3}
    assert report.fallback == {"matmul": 8}
    assert report.seconds == 3.0
    assert failures(ended(good()), ended(good()[:-1]))


def test_what_did_not_apply_is_said_and_does_not_fail() -> None:
    left = {"event": "skipped", "name": "paddlenlp", "reason": "not installed"}
    report = judge("model", "loopback", [ended(good()), ended([left, {"event": "end"}])])
    assert report.passed
    assert report.skipped == {"paddlenlp": "not installed"}


def test_a_level_in_which_nothing_ran_has_not_passed() -> None:
    left = {"event": "skipped", "name": "paddlenlp", "reason": "not installed"}
    assert not judge("model", "loopback", [ended([left, {"event": "end"}])]).passed


def test_the_json_form_is_versioned_and_complete() -> None:
    level = judge("device", "loopback", [ended(good())])
    report = SmokeReport(device="loopback", passed=True, levels=(level,))
    document = msgspec.json.decode(msgspec.json.encode(report))
    assert document["schema"] == "paddock/smoke/1"
    assert document["levels"][0]["checks"][0]["name"] == "one"
    assert msgspec.convert(document, SmokeReport) == report
    assert report.failed == []


def test_of_paddles_pages_what_says_why_is_kept() -> None:
    """The text has a traceback of C++ before it, and where in Paddle's source it was raised."""
    said = """
        -----
        C++ Traceback
        0  paddle::f()

        (NotFound) The kernel `swiglu` is not registered.
          [Hint: Expected iter != kernels_.end()] (at /paddle/phi/x.cc:273)
        """
    told = probe("report").explain(RuntimeError(said))
    assert told.startswith("RuntimeError: (NotFound) The kernel `swiglu` is not registered.; [Hint")
    assert probe("report").explain(ValueError("one\n\ntwo")) == "ValueError: one; two"
    assert probe("report").explain(ValueError()) == "ValueError: no message"
