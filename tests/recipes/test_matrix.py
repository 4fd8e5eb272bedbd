"""The table of `build-ops --matrix`: how often a pair is tried, and what is told of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args
from unicodedata import east_asian_width

import pytest

from checks import build, build_matrix, build_recipe, build_table
from checks.build_matrix import Cell, Row
from checks.build_recipe import Built
from checks.wheels.built import Papers, Verdict
from provision import words
from provision.arguments import options
from provision.errors import PaddockError
from provision.journal import Witness
from provision.progress import Plain
from provision.wheels import recipe, store, trial
from provision.wheels.order import Order, orders
from provision.wheels.python import Python
from provision.wheels.source import Source
from provision.wheels.trial import Trial
from provision.wheels.work import Work

MEASURED = ["2.6.2", "3.0.0b2", "3.0.0rc1", "3.0.0", "3.1.1", "3.2.2", "3.3.1"]
CRASH = Trial("crash", "SIGSEGV")
LOADS = Trial("loads", "")
GOOD = [LOADS] * build_matrix.TRIES
COUNTED = ("ok", "warning", "error", "unknown")


def work(place: Path, release: str) -> Work:
    """A build for one release, whose environment may be there or not."""
    python = Python(place / release / "bin/python", "3.11", release, place / release)
    source = Source(str(place), place, "c" * 40, "c" * 40)
    return Work(recipe.load("custom_cpu"), source, python, "x86_64", place)


def built(place: Path, release: str) -> Built:
    """A wheel as it is told of, for one release."""
    wheel = place / f"paddle_custom_cpu-{release}.whl"
    record = store.Record("", "", "", "", {}, Witness(str(wheel), 0, 0), 0, 0.0, "")
    return Built(work(place, release), record, True, None)


def row(place: Path, release: str) -> Row:
    """A release whose wheel was built."""
    return Row(work(place, release), built(place, release))


@pytest.mark.parametrize(
    ("run", "made", "cell"),
    [
        ("3.0.0", [CRASH], ("crash", 1, 0)),
        ("3.0.0", [LOADS, LOADS, CRASH], ("crash", 3, 2)),
        ("3.0.0", [LOADS] * 5, ("loads", 5, 5)),
        ("3.3.1", [LOADS, CRASH], ("crash", 2, 1)),
    ],
)
def test_a_release_is_tried_until_one_load_does_not_compute(
    home: Path, monkeypatch: pytest.MonkeyPatch, run: str, made: list[Trial],
    cell: tuple[str, int, int],
) -> None:  # fmt: skip
    ends: Iterator[Trial] = iter(made)
    monkeypatch.setattr(trial, "load", lambda *_, **__: next(ends))
    found = build_matrix._cell(built(home, "3.3.1"), row(home, run))
    assert (found.built, found.run) == ("3.3.1", run)
    assert (found.verdict, found.tries, found.computed) == cell
    assert not list(ends)
    assert (f" {found.computed}/{found.tries}" in found.said) is (found.tries > 1)


@pytest.mark.parametrize(
    "ref", ["", "v3.0.0-beta1", "c8ed610dec3d26d69e1aa6529cb86201a2b1e55c", "develop"]
)
def test_without_releases_those_that_belong_to_the_ref_are_meant(ref: str) -> None:
    own = dict.fromkeys(("source", "python", "paddle", "in", "image"), "") | {"ref": ref}
    chosen = options("loopback")
    asked = orders("custom_cpu", own, chosen, is_counted=False, matrix=True)
    assert [order.paddle for order in asked] == MEASURED
    own["paddle"] = "3.3.1, 3.0.0"
    asked = orders("custom_cpu", own, chosen, is_counted=False, matrix=True)
    assert [order.paddle for order in asked] == ["3.3.1", "3.0.0"]


Matrix = Callable[..., int]


def found(place: Path, release: str, *, environment: bool) -> None:
    """A wheel on the disk, and the environment with its Paddle."""
    names = [built(place, release).wheel]
    names += [place / release / name for name in ("bin/python", "pyvenv.cfg")] * environment
    for path in names:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch()


@pytest.fixture
def matrix(home: Path, monkeypatch: pytest.MonkeyPatch) -> Matrix:
    """A matrix whose builds end with an error or without one, and its loads as told, in order."""
    ends: dict[str, PaddockError | None] = {}
    loads: list[Trial | BaseException] = []

    def end(one: object) -> Any:
        if isinstance(one, BaseException):
            raise one
        return one

    def run(
        builds: dict[str, PaddockError | None], made: list[Trial | BaseException], absent: str = "",
        *, json: bool = False,
    ) -> int:  # fmt: skip
        ends.update(builds)
        loads[:] = made
        for release in builds:
            found(home, release, environment=release != absent)
        status = build.matrix([Order("custom_cpu", paddle=one) for one in builds], json=json)
        assert not loads
        return status

    verdict = Verdict(0, dict.fromkeys(COUNTED, 0), [], "registered: custom_cpu")
    papers = Papers([home / "x.intoto.json"], verdict)
    monkeypatch.setattr(build_matrix, "work", lambda order, *_: work(home, order.paddle))
    monkeypatch.setattr(
        build_recipe,
        "build",
        lambda order, *_: end(ends[order.paddle] or built(home, order.paddle)),
    )
    monkeypatch.setattr(trial, "load", lambda *_, **__: end(loads.pop(0)))
    monkeypatch.setattr("checks.wheels.built.papers_of_recipe", lambda _: papers)
    return run


def failed(line: str) -> PaddockError:
    """A build that ended with an error of the compiler."""
    return PaddockError("step-failed", (line,), step="custom_cpu/compile", status=1, log="a.log")


def test_a_release_that_does_not_build_is_a_row_and_the_others_go_on(
    matrix: Matrix, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = {"3.0.0": None, "3.1.0": failed("x.cc:1: error: gone"), "3.2.0": None}
    loads = [*GOOD, CRASH, LOADS, LOADS, CRASH, CRASH, *GOOD, *GOOD]
    assert matrix(ends, loads) == 7
    out, err = capsys.readouterr()
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()
            if line.startswith("  3.") and "->" not in line}  # fmt: skip
    assert rows["3.0.0"] == ["loads", "5/5", "crashes", "crashes", "2/3"]
    assert rows["3.1.0"][:4] == ["could", "not", "be", "built,"]
    assert rows["3.2.0"] == ["crashes", "loads", "5/5", "loads", "5/5"]
    assert "SIGSEGV" in out and "x.cc:1: error: gone" in err and "a.log" in err
    assert "3.1.0 could not be built, the others go on: x.cc:1: error: gone" in out
    assert err.index("3.1.0") < err.index("x.cc:1")


def test_each_wheel_is_told_of_with_its_load_and_its_papers_and_each_failure(
    matrix: Matrix, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = {"3.0.0": None, "3.1.0": failed("error: gone"), "3.3.1": None}
    loads = [*GOOD, CRASH, CRASH, *GOOD]
    assert matrix(ends, loads, absent="3.1.0", json=True) == 7
    told = json.loads(capsys.readouterr().out)
    assert [(one["paddle"], one["trial"]) for one in told["wheels"]] == [
        ("3.0.0", "loads"), ("3.3.1", "loads"),
    ]  # fmt: skip
    assert all(one["papers"] and one["audit"] for one in told["wheels"])
    assert [(one["built"], one["run"]) for one in told["cells"]] == [
        ("3.0.0", "3.0.0"), ("3.0.0", "3.3.1"), ("3.3.1", "3.0.0"), ("3.3.1", "3.3.1"),
    ]  # fmt: skip
    (failure,) = told["failed"]
    assert (failure["paddle"], failure["code"], failure["details"]) == (
        "3.1.0", "step-failed", ["error: gone"],
    )  # fmt: skip


def test_of_a_branch_that_moves_on_all_wheels_have_one_commit(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits, given = iter("abc"), []

    def make(order: Order, _: object, __: object, source: Source) -> Built:
        given.append(source.commit[0])
        return built(home, order.paddle)

    monkeypatch.setattr("provision.wheels.source._asked", lambda *_: next(commits) * 40)
    monkeypatch.setattr(build_recipe, "build", make)
    asked = [Order("custom_cpu", ref="develop", paddle=one) for one in ("3.0.0", "3.3.1")]
    made = build_matrix.rows(asked, print, lambda: Plain(sys.stderr))
    assert given == ["a", "a"] == [row.work.source.commit[0] for row in made]


@pytest.mark.parametrize("code", ["source-ref", "busy"])
def test_what_is_wrong_with_all_releases_ends_the_matrix(matrix: Matrix, code: str) -> None:
    error = PaddockError(code, source="x", ref="y", target="wheels", process=1)
    with pytest.raises(PaddockError) as caught:
        matrix({"3.0.0": error, "3.1.0": None}, [])
    assert caught.value is error


def test_the_same_error_of_several_releases_is_told_once(
    matrix: Matrix, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = {"3.0.0": failed("one"), "3.1.0": failed("other"), "3.2.0": failed("one")}
    assert matrix(dict(ends), []) == 7
    err = capsys.readouterr().err
    assert "3.0.0, 3.2.0:" in err and err.count("| one") == err.count("| other") == 1


@pytest.mark.parametrize(
    ("short", "says"),
    [(Trial("memory", "std::bad_alloc"), "Memory ran out"),
     (Trial("paddle", "SIGILL"), "does not import")],
)  # fmt: skip
def test_a_pair_that_could_not_be_tried_is_told_and_tried_again(
    matrix: Matrix, capsys: pytest.CaptureFixture[str], short: Trial, says: str
) -> None:
    assert matrix({"3.0.0": None}, [short]) == 4
    err = capsys.readouterr().err
    assert short.line in err and says in err and "the wheel for 3.0.0" in err
    with pytest.raises(KeyboardInterrupt):
        matrix({"3.0.0": None, "3.1.0": None}, [short, KeyboardInterrupt()])
    assert matrix({"3.0.0": None}, GOOD) == 0


def test_a_matrix_that_was_broken_off_goes_on_and_a_whole_one_is_measured_anew(
    matrix: Matrix, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both: dict[str, PaddockError | None] = {"3.0.0": None, "3.1.0": None}
    with pytest.raises(KeyboardInterrupt):
        matrix(both, [*GOOD, CRASH, KeyboardInterrupt()])
    assert matrix(both, [CRASH, *GOOD]) == 0
    told = capsys.readouterr().out
    assert "3.0.0 -> 3.1.0: crashes  (found by the run before" in told
    assert "3.1.0 -> 3.0.0: crashes\n" in told
    with pytest.raises(KeyboardInterrupt):
        matrix(both, [*GOOD, CRASH, KeyboardInterrupt()])
    built(home, "3.0.0").wheel.write_text("made anew")
    assert matrix(both, [*GOOD, CRASH, CRASH, *GOOD]) == 0


@pytest.mark.parametrize("language", ["en", "zh"])
def test_columns_stand_below_each_other_and_what_is_not_plain_is_explained(
    home: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setattr(words, "language", lambda: language)
    kinds = [one for one in get_args(trial.Verdict) if one != "registers"]
    names = [f"3.{at}.0" for at in range(len(kinds))]
    cells = [Cell(names[0], name, kind, f"seen {kind}", 3, 2)
             for name, kind in zip(names, kinds, strict=True)]  # fmt: skip
    made = [*(row(home, one) for one in names), Row(work(home, "3.0.0.dev20240520"), failed("x"))]
    lines = list(build_table.table(made, cells))
    assert f"  3.0.0.dev20240520  {words.text('cell.unbuilt')}" in lines

    def columns(line: str, part: str) -> int:
        before = line[: line.index(part)]
        return len(before) + sum(east_asian_width(sign) in "WF" for sign in before)

    for cell in cells:
        assert columns(lines[1], cell.run) == columns(lines[2], cell.said)
        if cell.verdict != "loads":
            assert f"      {cell.line}" in lines
