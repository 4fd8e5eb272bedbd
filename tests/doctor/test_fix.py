"""`doctor --fix`: what is declared safe is run after consent, the rest is left with a reason."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checks.doctor import fix, visit
from checks.doctor.examine import Report, ask
from checks.machine.finding import Finding
from provision import words
from provision.errors import PaddockError
from provision.facts.installed import Difference
from provision.facts.leftover import Leftover, Step
from provision.facts.snapshot import Facts
from provision.stack import load, stack_file
from tests.conftest import ROOT, run_cli, variables
from tests.doctor.values import COMPARISON, ENVIRONMENT, PLUGIN, changed

WRONG = changed(COMPARISON, differences=[Difference("framework", "demo", "1", "2")])
LEFT = Leftover("/demo/journal", False, [Step("env/python", "failed", 1.0, "/demo/log")])


def examined(facts: Facts, **changes: Any) -> Report:
    sick = changed(facts, **changes)
    return Report(sick, ask(sick), 0.1)


def only(report: Report, *names: str) -> Report:
    """The report with nothing but these findings, so that other checks do not matter."""
    kept = [one for one in report.findings if one.id in names]
    return Report(report.facts, kept, report.seconds)


@pytest.mark.parametrize(
    ("changes", "check", "command"),
    [
        ({"comparison": WRONG}, "stack-framework", " --from framework/paddle"),
        ({"plugin": changed(PLUGIN, verdict="absent")}, "plugin-loads", " --from plugin/build"),
        ({"leftover": LEFT}, "leftover-run", ""),
        ({"environment": changed(ENVIRONMENT, version=None, problem="gone")}, "environment-python",
         " --from env/python"),
    ],
)  # fmt: skip
def test_what_is_safe(home: Path, healthy: Facts, changes: Any, check: str, command: str) -> None:
    made = fix.offer(only(examined(healthy, **changes), check))
    steps = [step.name for step in healthy.stack.steps]
    assert not command or command.rsplit(maxsplit=1)[-1] in steps
    # In an empty home every step is pending, also one that installs system packages where needed.
    if made.command:
        assert made.command == f"paddock provision --target loopback{command}"
        assert [one.id for one in made.findings] == [check] and not made.left
    else:
        assert [(one.finding.id, one.reason) for one in made.left] == [(check, "host")]


def test_one_run_from_the_earliest_step(
    home: Path, healthy: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fix, "_host_changes", lambda chosen: "")
    findings = [
        Finding("error", "differs", command="paddock provision", id=name, safe=True, step=step)
        for name, step in (("stack-packages", "framework/paddlenlp"), ("leftover-run", ""),
                           ("plugin-loads", "plugin/build"))
    ]  # fmt: skip
    made = fix.offer(Report(healthy, findings, 0.1))
    order = [step.name for step in healthy.stack.steps]
    first = min("framework/paddlenlp", "plugin/build", key=order.index)
    assert made.command == f"paddock provision --target loopback --from {first}"
    assert [one.id for one in made.findings] == ["stack-packages", "leftover-run", "plugin-loads"]


def test_another_release_stays_that_release(
    home: Path, healthy: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fix, "_host_changes", lambda chosen: "")
    made = fix.offer(examined(healthy, comparison=changed(WRONG, release="3.0.0")))
    wanted = "paddock provision --target loopback --release 3.0.0 --from framework/paddle"
    assert (made.command, made.release) == (wanted, "3.0.0")


def test_the_run_that_mends_is_in_the_finding_and_in_its_command(healthy: Facts) -> None:
    sick = examined(healthy, comparison=changed(WRONG, release="3.0.0"))
    found = next(one for one in sick.findings if one.id == "stack-framework")
    assert (found.step, found.release, found.safe) == ("framework/paddle", "3.0.0", True)
    assert found.command.endswith(" --release 3.0.0 --from framework/paddle")
    usual = changed(WRONG, release=healthy.stack.default_release)
    found = next(one for one in examined(healthy, comparison=usual).findings if one.safe)
    assert found.release == "" and "--release" not in found.command


@pytest.mark.parametrize("agrees", [True, False])
def test_the_report_is_shown_before_the_question_and_again_only_after_a_run(
    healthy: Facts, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    agrees: bool,
) -> None:  # fmt: skip
    monkeypatch.setattr(fix, "_host_changes", lambda chosen: "")
    monkeypatch.setattr(fix, "agreed", lambda made, yes: agrees)
    monkeypatch.setattr(fix, "carry_out", lambda made, target, json: None)
    report = only(examined(healthy, leftover=LEFT), "leftover-run")
    made, done = visit.mend(report, lambda: report, yes=False, json=False)
    assert visit.tell(made, {}, json=False, strict=False, fixed=done) == 11
    assert capsys.readouterr().out.count("[leftover-run]") == 1 + agrees


def test_without_anything_to_run_the_report_is_shown_once(
    healthy: Facts, capsys: pytest.CaptureFixture[str]
) -> None:
    finding = Finding("error", "list", {"shown": "a:b"}, id="plugin-root")
    report = Report(healthy, [finding], 0.1)
    made, done = visit.mend(report, lambda: report, yes=False, json=False)
    visit.tell(made, {}, json=False, strict=False, fixed=done)
    assert capsys.readouterr().out.count("[plugin-root]") == 1


def test_what_would_change_the_system_is_left(
    home: Path, healthy: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fix, "_host_changes", lambda chosen: "host/toolchain")
    report = only(examined(healthy, comparison=WRONG), "stack-framework")
    made = fix.offer(report)
    assert not made.command and [one.reason for one in made.left] == ["host"]


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_what_is_left_has_its_reason(
    healthy: Facts, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setenv("PADDOCK_LANG", language)
    left = [
        Finding("error", "list", {"shown": "a:b"}, command="unset X", id="plugin-root"),
        Finding("warning", "little", {"usable": "1", "wanted": "2"}, id="machine-memory"),
        Finding("unknown", "unread", id="machine-disk"),
    ]
    made = fix.offer(Report(healthy, left, 0.1))
    assert [(one.finding.id, one.reason) for one in made.left] == [
        ("plugin-root", "command"), ("machine-memory", "none"),
    ]  # fmt: skip
    shown = list(fix.lines(made))
    assert len(shown) == 3 and "unset X" in shown[1] and len(set(shown)) == 3


def test_of_a_foreign_environment_nothing_is_safe(healthy: Facts) -> None:
    foreign = changed(ENVIRONMENT, own=False)
    sick = examined(healthy, environment=foreign, plugin=changed(PLUGIN, verdict="skipped"))
    assert not [one for one in sick.findings if one.safe]


def test_without_a_terminal_it_needs_yes(
    home: Path, healthy: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fix, "_host_changes", lambda chosen: "")
    ran: list[str] = []
    monkeypatch.setattr(fix, "carry_out", lambda made, target, json: ran.append(made.command))
    report = only(examined(healthy, leftover=LEFT), "leftover-run")
    with pytest.raises(PaddockError) as caught:
        visit.mend(report, lambda: report, yes=False, json=True)
    assert caught.value.code == "fix-consent" and not ran
    after = examined(healthy)
    made, done = visit.mend(report, lambda: after, yes=True, json=True)
    assert made is after and ran == ["paddock provision --target loopback"]
    assert (done["ran"], done["for"]) == (True, ["leftover-run"])


def test_flags_that_do_not_go_with_it() -> None:
    for other in ({"from": "x"}, {"env": "x"}, {"compare": "x"}, {"list": True}, {"html": "-"},
                  {"snapshot": "-", "json": True}):  # fmt: skip
        with pytest.raises(PaddockError):
            visit.refuse_mixed({"fix": True, **other})
    visit.refuse_mixed({"fix": True, "strict": True, "json": True, "container": "x", "html": "x"})
    visit.refuse_mixed({"fix": True, "yes": True})
    with pytest.raises(PaddockError) as caught:
        visit.refuse_mixed({"yes": True, "fix": False, "strict": True})
    assert caught.value.code == "flag-needs" and "without --fix" in caught.value.part("what")


def _answered(home: Path, answer: bytes, *flags: str) -> str:
    """What `doctor --fix` shows on a terminal on which somebody answers."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "tasks.py"), "doctor", "--target", "loopback", "--fix", *flags],
        env=variables(home) | {"NO_COLOR": "1"}, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, answer)
    said = b""
    try:
        while part := os.read(ours, 65536):
            said += part
    except OSError:  # the other end is closed
        pass
    process.wait(600)
    os.close(ours)
    return said.decode("utf-8", "replace")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_plugin_that_was_deleted_is_built_again(spare_home: Path) -> None:
    home = spare_home
    # Every step by name: so the smoke tests run once only, after the mending.
    steps = ",".join(step.name for step in load(stack_file("loopback")).steps)
    assert run_cli(home, "provision", "--yes", "--only", steps).returncode == 0
    packages = next((home / "data" / "envs" / "loopback").glob("lib/python3*/site-packages"))
    plugin = next((packages / "paddle_custom_device").glob("*.so"))
    plugin.unlink()
    refused = run_cli(home, "doctor", "--target", "loopback", "--fix")
    assert refused.returncode == 2 and "--yes" in refused.stderr and not plugin.exists()
    assert "--fix runs: paddock provision --target loopback --from plugin/build" in refused.stdout
    said = _answered(home, b"n\n")
    assert "[Y/n]" in said and not plugin.exists()
    made = run_cli(home, "doctor", "--target", "loopback", "--fix", "--yes", "--json")
    told = json.loads(made.stdout)
    assert told["fix"]["ran"] and told["fix"]["for"] == ["plugin-loads"] and plugin.exists()
    states = {one["id"]: one["state"] for one in told["findings"]}
    assert states["plugin-loads"] == states["leftover-run"] == states["stack-packages"] == "ok"
    again = run_cli(home, "doctor", "--target", "loopback", "--fix")
    assert again.stdout.startswith("There is nothing that --fix may run.")
