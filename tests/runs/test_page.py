"""`report`: one page of the runs that is well formed, needs nothing else, and says what it is."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from checks.doctor.examine import Report, ask
from checks.runs import junit
from checks.runs.drawing import curve, line_of_time
from checks.runs.page import encode
from checks.runs.record import Run
from provision import words
from provision.facts.snapshot import Facts
from provision.journal import Entry
from tests.conftest import Cli
from tests.doctor.conftest import healthy
from tests.runs.test_history import at, kept, report

__all__ = ["healthy"]
HOSTILE = "<b>]]>&\"'{{ 7*7 }}\x1b[2J 中"
NAMESPACE = "{http://www.w3.org/1999/xhtml}"


def run(speed: float, time: float, said: str | None = None) -> Run:
    """A run with a loss, and a check whose words are hostile."""
    made = report(speed, error=HOSTILE, said=said)
    level = msgspec.structs.replace(
        made.levels[0], series={"loss": [3.0, 2.0, float("nan"), 1.0]}, log=(HOSTILE,)
    )
    return at(speed, time, smoke=msgspec.structs.replace(made, levels=(level,)), stand_in=said)


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_the_page_is_whole_and_says_a_stand_in_first(
    healthy: Facts, home: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setenv("PADDOCK_LANG", language)
    runs = [run(40, 1), run(41, 2), run(42, 3, said=f"no card {HOSTILE}")]
    page = encode(runs, Report(healthy, ask(healthy), 0.1)).decode()
    root = ElementTree.fromstring(page)  # noqa: S314 - it is our own
    text = " ".join(root.itertext())
    first = root.find(f"{NAMESPACE}body/{NAMESPACE}header/*")
    assert first is not None and "no card" in "".join(first.itertext())
    assert "{{ 7*7 }}" in text and "\x1b" not in page and "<b>" not in page
    assert len(root.findall(".//{http://www.w3.org/2000/svg}polyline")) == 3
    assert "http://" not in page.replace("http://www.w3.org/", "") and "src=" not in page


def test_a_curve_keeps_its_place_where_a_value_is_none() -> None:
    drawn = curve("loss", [3.0, float("inf"), 1.0])
    assert drawn is not None and drawn.points == "8.0,8.0 452.0,112.0"
    assert (drawn.lowest, drawn.highest, drawn.last, drawn.count) == ("1", "3", "1", 2)
    assert curve("loss", [1.0]) is None
    level = curve("even", [2.0, 2.0])
    assert level is not None and level.points == "8.0,112.0 452.0,112.0"


def test_the_line_of_time_is_of_the_run_that_did_the_most() -> None:
    def entry(step: str, run: str, time: float, seconds: float) -> Entry:
        return Entry(step=step, event="done", key="k", run=run, time=time, seconds=seconds)

    first = [entry("a", "one", 12, 2), entry("b", "one", 20, 4), entry("smoke", "one", 99, 9)]
    line = line_of_time([*first, entry("a", "two", 50, 1)], "smoke")
    assert line is not None and line.run == "one"
    assert [(bar.name, bar.y) for bar in line.bars] == [("a", 0), ("b", 24)]
    assert line.bars[1].x + line.bars[1].wide == pytest.approx(230 + 560, abs=1)
    assert line_of_time([], "smoke") is None


def test_junit_has_a_case_a_check() -> None:
    (suite,) = ElementTree.fromstring(junit.encode(run(40, 1)))  # noqa: S314 - it is our own
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None and "{{ 7*7 }}" in (failure.get("message") or "")


def test_the_command_writes_where_it_is_told(cli: Cli, home: Path, tmp_path: Path) -> None:
    kept(report(said="no card"))
    page, suite = tmp_path / "页 1.html", tmp_path / "r.xml"
    done = cli("report", "--target", "loopback", "--html", str(page), "--junit", str(suite))
    assert done.returncode == 0 and str(page) in done.stdout
    assert "no card" in page.read_text() and "<testsuite" in suite.read_text()
    answer = json.loads(cli("report", "--target", "loopback", "--json").stdout)
    assert answer["schema"] == "paddock/report/1" and len(answer["runs"]) == 1
    for two in (["--html", "-", "--junit", "-"], ["--json", "--html", "-"],
                ["--junit=-", "--json"], ["--html", str(page), "--junit", str(page)]):  # fmt: skip
        apart = cli("report", "--target", "loopback", *two)
        assert apart.returncode == 2 and "cannot be given together" in apart.stderr, two
    refused = cli("report", "--target", "loopback", "--html", str(tmp_path / "no" / "r.html"))
    assert refused.returncode == 2 and "--html" in refused.stderr
