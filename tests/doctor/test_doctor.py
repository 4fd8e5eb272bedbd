"""Consequences below their cause, statuses, lines and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checks.doctor import examine as doctor
from checks.doctor.examine import Report, ask, examine
from checks.doctor.report import lines, status, to_json
from checks.machine.finding import Check, Finding, State
from checks.machine.registry import CHECKS
from provision.errors import PaddockError
from provision.facts import disk, machine, pci, pci_text, snapshot
from provision.facts.settings import Setting
from provision.facts.snapshot import Facts, Unread
from tests.doctor.test_checks import BARE, STEP, plugin, setting
from tests.doctor.values import CARD, LEFTOVER, PLUGIN, changed


def check(name: str, state: State, *needs: str) -> Check:
    return Check(name, lambda facts: Finding(state, "case"), needs)


def states(facts: Facts, *checks: Check) -> dict[str, tuple[str, str]]:
    return {one.id: (one.state, one.follows) for one in ask(facts, checks)}


def test_a_bad_answer_behind_an_error_is_a_consequence_a_good_one_counts(healthy: Facts) -> None:
    made = states(
        healthy, check("a", "error"), check("b", "error", "a"), check("c", "ok", "a"),
        check("d", "warning", "b"), check("e", "error", "c"),
    )  # fmt: skip
    assert made == {"a": ("error", ""), "b": ("follows", "a"), "c": ("ok", ""),
                    "d": ("follows", "a"), "e": ("error", "")}  # fmt: skip


def test_what_stands_behind_nothing_is_not_asked(healthy: Facts) -> None:
    def never(facts: Facts) -> Finding:
        pytest.fail("was asked")

    made = states(healthy, check("a", "absent"), Check("b", never, ("a",)))
    assert made["b"] == ("follows", "a")


def test_behind_something_unknown_only_another_unknown_is_folded(healthy: Facts) -> None:
    made = states(
        healthy, check("a", "unknown"), check("b", "unknown", "a"), check("c", "error", "a")
    )
    assert made == {"a": ("unknown", ""), "b": ("follows", "a"), "c": ("error", "")}


def test_a_question_about_other_devices_does_not_arise(healthy: Facts) -> None:
    def never(facts: Facts) -> Finding:
        pytest.fail("was asked")

    made = states(healthy, Check("a", never, (), ("npu",)), check("b", "error", "a"))
    assert made == {"a": ("apart", ""), "b": ("error", "")}


def test_a_warning_explains_nothing(healthy: Facts) -> None:
    made = states(healthy, check("a", "warning"), check("b", "error", "a"))
    assert made["b"] == ("error", "")


def test_a_check_that_crashes_has_found_nothing_out(healthy: Facts) -> None:
    def crash(facts: Facts) -> Finding:
        raise ZeroDivisionError("by nothing")

    (finding,) = ask(healthy, [Check("machine-os", crash)])
    assert (finding.state, finding.case) == ("unknown", "crashed")
    assert finding.evidence[0].line == "ZeroDivisionError: by nothing" and finding.part("what")


def test_each_check_needs_only_earlier_ones() -> None:
    names = [one.id for one in CHECKS]
    assert len(set(names)) == len(names)
    for number, one in enumerate(CHECKS):
        assert set(one.needs) <= set(names[:number])


def report(facts: Facts) -> Report:
    return Report(facts, ask(facts), 0.1)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 0),
        (BARE, 0),
        ({"compiler": None} | BARE, 0),
        ({"accelerators": [changed(CARD, target=None)]}, 10),
        (plugin("skipped"), 11),
        (plugin("skipped") | {"accelerators": [changed(CARD, target=None)]}, 11),
        ({"machine": Unread("?")}, 12),
        ({"machine": Unread("?"), "accelerators": [changed(CARD, target=None)]}, 10),
    ],
)
def test_statuses(healthy: Facts, changes: dict[str, Any], expected: int) -> None:
    assert status(report(changed(healthy, **changes))) == expected


def test_a_healthy_machine_gets_three_lines(healthy: Facts) -> None:
    made = report(healthy)
    asked = [one for one in made.findings if one.state != "apart"]
    shown = lines(made)
    assert shown == [
        "no accelerator, Demo Linux 7 x86_64, CPUs: 4, 8.0 GiB, paddlepaddle 9.9",
        f"checks that hold: {len(asked)}",
        "next: paddock smoke --target loopback",
    ]


def test_a_bare_machine_is_told_what_is_not_there(healthy: Facts) -> None:
    shown = lines(report(changed(healthy, compiler=None, **BARE)))
    assert shown[2].startswith("-  There is no C++ compiler") and "not provisioned" in "".join(
        shown
    )
    assert shown[-1] == "next: paddock provision --target loopback"


def test_the_worst_comes_first_with_its_consequences_folded(healthy: Facts) -> None:
    changes = {"leftover": changed(LEFTOVER, steps=[STEP]),
               "accelerators": [changed(CARD, target="later")] * 3}  # fmt: skip
    shown = lines(report(changed(healthy, **changes, **plugin("raises"))), colour=False)
    heads = [line for line in shown if line[:1] in "x!?-" and line]
    assert [line.rpartition("[")[2] for line in heads] == ["leftover-run]", "accelerator-known]"]
    assert any("Findings that follow from it: 1." in line for line in shown)
    assert shown[0].startswith("3 x Ascend 910B (19e5:d802), Demo Linux")
    assert shown[-1] == "next: paddock provision --target loopback"


def test_colour_only_repeats_the_words(healthy: Facts, monkeypatch: pytest.MonkeyPatch) -> None:
    import re

    sick = report(changed(healthy, **plugin("broken")))
    plain, coloured = lines(sick, colour=False), lines(sick, colour=True)
    assert plain != coloured
    assert [re.sub(r"\033\[\d+m", "", line) for line in coloured] == plain
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert lines(sick) == plain


def test_json_is_plain_and_whole(healthy: Facts) -> None:
    root = setting(device_root=Setting("CUSTOM_DEVICE_ROOT", "a:b", "list"))
    made = json.loads(json.dumps(to_json(report(changed(healthy, **root, **plugin("absent"))))))
    assert (made["schema"], made["status"], made["target"]) == ("paddock/doctor/1", 11, "loopback")
    by_id = {one["id"]: one for one in made["findings"]}
    assert list(by_id) == [one.id for one in CHECKS]
    assert by_id["plugin-root"]["state"] == "error" and by_id["plugin-root"]["what"]
    assert (by_id["plugin-loads"]["state"], by_id["plugin-loads"]["follows"]) == (
        "follows", "plugin-root",
    )  # fmt: skip
    assert made["facts"]["machine"]["arch"] == "x86_64"


def test_this_machine_without_anything_installed(home: Path) -> None:
    made = examine("loopback")
    assert {one.id: one.state for one in made.findings}["environment-python"] == "absent"
    assert not any(isinstance(value, Unread) for value in (
        made.facts.machine, made.facts.disk, made.facts.python, made.facts.settings,
        made.facts.accelerators, made.facts.compiler, made.facts.leftover,
    ))  # fmt: skip
    assert json.dumps(to_json(made)) and not (home / "data").exists()


def test_a_target_that_does_not_exist() -> None:
    with pytest.raises(PaddockError) as caught:
        examine("loopbak")
    assert caught.value.code == "unknown-target"


def test_a_card_of_a_target_that_this_version_lacks_still_gets_an_examination(
    home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "sys/bus/pci/devices/0000:01:00.0"
    folder.mkdir(parents=True)
    for name, value in (("class", "0x120000"), ("vendor", "0x1e36"), ("device", "0xbeef")):
        (folder / name).write_text(value)
    made = examine(None, root=tmp_path)
    assert made.facts.target == "loopback"
    assert {one.id: one.state for one in made.findings}["accelerator-known"] == "unknown"


@pytest.mark.parametrize("target", [None, "loopback"])
@pytest.mark.parametrize("problem", [OSError("no bus"), ValueError("odd")])
def test_the_bus_is_read_once_whatever_it_answers(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str | None,
    problem: Exception,
) -> None:  # fmt: skip
    reads: list[Path] = []

    def read(root: Path) -> list[pci.Device]:
        reads.append(root)
        raise problem

    monkeypatch.setattr(pci_text, "collect", read)
    made = examine(target, root=tmp_path)
    assert reads == [tmp_path] and made.facts.target == "loopback"
    assert made.facts.accelerators == Unread(f"{type(problem).__name__}: {problem}")
    assert isinstance(made.facts.outputs, list)


@pytest.mark.slow
def test_a_collector_that_hangs_or_raises_costs_its_limit_only(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    release = threading.Event()
    monkeypatch.setattr(disk, "collect", lambda: 1 / 0)
    monkeypatch.setattr(machine, "collect", lambda root: release.wait(30))
    begin = snapshot._begin
    monkeypatch.setattr(snapshot, "_begin", lambda limit, read: begin(min(limit, 5.0), read))
    made = examine("loopback")
    release.set()
    assert made.seconds < 20
    assert made.facts.machine == Unread("no answer within 5 s")
    assert made.facts.disk == Unread("ZeroDivisionError: division by zero")
    assert status(made) in (11, 12)
    assert doctor.ask(changed(made.facts, plugin=PLUGIN))
