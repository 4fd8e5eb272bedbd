"""Records of the smoke tests: kept whole, bounded, listed and compared."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from checks.runs import record, telling
from checks.runs.history import compare, worse
from checks.runs.record import Run, keep, runs
from checks.smoke.report import Check, LevelReport, SmokeReport
from provision import stack
from provision.paths import IMAGES
from provision.site import Site
from tests.conftest import Cli

FOLDER = IMAGES / "loopback"


def report(speed: float = 40.0, error: str | None = None, said: str | None = None) -> SmokeReport:
    """A report of one level with a speed, a result, and one check."""
    level = LevelReport(
        level="model", device="loopback:0", passed=error is None,
        checks=(Check("ids", passed=error is None, error=error),), seconds=1.0, native={},
        fallback={}, figures={"tokens_per_second": speed, "perplexity": 16.3}, skipped={}, log=(),
    )  # fmt: skip
    return SmokeReport(
        stand_in=said, device="loopback", passed=error is None, levels=(level,)
    )  # fmt: skip


def kept(made: SmokeReport) -> Run:
    """The record of that report."""
    run, lost = keep(stack.load(FOLDER / "stack.toml"), FOLDER, made)
    assert lost == ""
    return run


def test_a_record_is_read_as_it_was_written(home: Path) -> None:
    written = kept(report(said="no card"))
    (found,) = runs(Site("loopback"))
    assert found == written
    file = next(Site("loopback").runs.glob("*.json"))
    assert next(iter(json.loads(file.read_text()))) == "stand_in"
    assert found.release == "3.3.1" and not found.exact  # there is no environment
    assert len(found.lock) == 64


def test_the_oldest_go_and_foreign_files_stay_out(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "KEPT", 3)
    made = [kept(report()) for _ in range(5)]
    times = sorted(run.id for run in made)
    assert {run.id for run in runs(Site("loopback"))} == set(times[-3:])
    folder = Site("loopback").runs
    (folder / "20200101-half.json").write_text('{"schema": "paddock/run/1", "id"')
    (folder / "20200102-other.json").write_text('{"schema": "paddock/run/9"}')
    assert len(list(runs(Site("loopback")))) == 3


def test_a_place_that_takes_no_record_is_told_and_no_more(home: Path) -> None:
    folder = Site("loopback").runs
    folder.parent.mkdir(parents=True)
    folder.write_text("a file")
    _, lost = keep(stack.load(FOLDER / "stack.toml"), FOLDER, report())
    assert str(folder) in lost


def at(speed: float, time: float, **more: object) -> Run:
    """A run of that speed at that time."""
    run = Run(
        id=f"{time:.0f}", time=time, target="loopback", release="3.3.1", lock="", exact=True,
        versions={"paddlepaddle": "3.3.1"}, pins={}, smoke=report(speed),
    )  # fmt: skip
    return msgspec.structs.replace(run, **more)


def test_what_is_beyond_the_spread_of_earlier_runs_is_worse() -> None:
    before = [at(speed, time) for time, speed in enumerate([40, 42, 41, 40, 43])]
    assert [one.name for one in worse(at(30, 9), before)] == ["model.tokens_per_second"]
    assert worse(at(30, 9), before)[0].median == 41
    assert worse(at(38, 9), before) == []  # within a tenth
    assert worse(at(90, 9), before) == []
    assert worse(at(30, 9), before[:2]) == []  # too few to say
    assert worse(at(30, 9, release="3.0.0"), before) == []
    restless = [at(speed, time) for time, speed in enumerate([20, 40, 60, 30, 50])]
    assert worse(at(30, 9), restless) == []
    assert worse(at(30, 9), [at(40, time) for time in (10, 11, 12)]) == []  # those came later


def test_two_runs_beside_each_other() -> None:
    a, b = at(40, 1), at(20, 2, versions={"paddlepaddle": "3.0.0", "numpy": "1.26.4"})
    b = msgspec.structs.replace(b, smoke=report(20, error="ids differ"))
    made = compare(a, b, [a, b])
    assert made.versions == [("numpy", "-", "1.26.4"), ("paddlepaddle", "3.3.1", "3.0.0")]
    assert made.verdicts == [("model/ids", "passed", "ids differ")]
    lines = "\n".join(telling.compared_lines(made))
    for words in ("3.3.1  ->  3.0.0", "ids differ", "-50.0 %"):
        assert words in lines


def test_the_command_lists_and_compares(cli: Cli, home: Path) -> None:
    none = cli("history", "--target", "loopback")
    assert none.returncode == 2 and "paddock smoke --target loopback" in none.stderr
    first = kept(report(40))
    assert "--compare" not in cli("history", "--target", "loopback").stdout  # with what?
    second = kept(report(41, said="in host memory"))
    listed = cli("history", "--target", "loopback")
    assert listed.returncode == 0
    assert first.id in listed.stdout and "stand-in" in listed.stdout
    assert "next: paddock history --compare " in listed.stdout
    both = cli("history", "--target", "loopback", "--compare", first.id, second.id)
    assert both.returncode == 0 and "model.tokens_per_second" in both.stdout
    answer = json.loads(cli("history", "--target", "loopback", "--json").stdout)
    assert [one["id"] for one in answer["runs"]] == sorted([first.id, second.id])
    unknown = cli("history", "--target", "loopback", "--compare", first.id, "1999")
    assert unknown.returncode == 2 and "1999" in unknown.stderr
    one = cli("history", "--target", "loopback", "--compare", first.id)
    assert one.returncode == 2 and "--compare A B" in one.stderr


def test_what_is_no_record_is_counted(cli: Cli, home: Path) -> None:
    made, folder = kept(report()), Site("loopback").runs
    (folder / "20990101-half.json").write_bytes(b'{"schema": "paddock/run/1", "id": "\xff')
    (folder / "20990102-folder.json").mkdir()
    os.mkfifo(folder / "20990103-pipe.json")
    listed = cli("history", "--target", "loopback", timeout=60)
    assert listed.returncode == 0 and made.id in listed.stdout
    (line,) = (one for one in listed.stdout.splitlines() if str(folder) in one)
    assert "3" in line
    answer = json.loads(cli("history", "--target", "loopback", "--json", timeout=60).stdout)
    assert answer["unread"] == 3 and len(answer["runs"]) == 1
    next(folder.glob(f"{made.id}*")).unlink()
    none = cli("history", "--target", "loopback", timeout=60)
    assert none.returncode == 2 and str(folder) in none.stderr


def test_the_same_second_makes_two_records(home: Path) -> None:
    assert kept(report()).id != kept(report()).id
