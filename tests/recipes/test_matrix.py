"""The table of `build-ops --matrix`: how often a pair is tried, and what is told of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from checks import build_matrix
from checks.build_recipe import Built
from checks.wheels.built import Papers, Verdict
from provision.arguments import options
from provision.journal import Witness
from provision.wheels import recipe, store, trial
from provision.wheels.order import orders
from provision.wheels.python import Python
from provision.wheels.source import Source
from provision.wheels.trial import Trial
from provision.wheels.work import Work

CRASH = Trial("crash", "SIGSEGV")
LOADS = Trial("loads", "")


def built(place: Path, release: str) -> Built:
    """A wheel as it is told of, for one release."""
    python = Python(place / release / "bin/python", "3.11", release, place / release)
    source = Source(str(place), place, "c" * 40, "c" * 40)
    work = Work(recipe.load("custom_cpu"), source, python, "x86_64", place)
    wheel = place / f"paddle_custom_cpu-{release}.whl"
    record = store.Record("", "", "", "", {}, Witness(str(wheel), 0, 0), 0, 0.0, "")
    return Built(work, record, True, None)


@pytest.mark.parametrize(
    ("run", "made", "cell"),
    [
        ("3.0.0", [CRASH], ("crash", 1, 0)),
        ("3.0.0", [LOADS, LOADS, CRASH], ("crash", 3, 2)),
        ("3.0.0", [LOADS] * 5, ("loads", 5, 5)),
        ("3.3.1", [LOADS], ("loads", 1, 1)),
    ],
)
def test_another_release_is_tried_until_one_load_does_not_compute(
    home: Path, monkeypatch: pytest.MonkeyPatch, run: str, made: list[Trial],
    cell: tuple[str, int, int],
) -> None:  # fmt: skip
    ends: Iterator[Trial] = iter(made)
    monkeypatch.setattr(trial, "load", lambda *_, **__: next(ends))
    found = build_matrix._cell(built(home, "3.3.1"), built(home, run))
    assert (found.built, found.run) == ("3.3.1", run)
    assert (found.verdict, found.tries, found.computed) == cell
    assert not list(ends)
    assert (f" {found.computed}/{found.tries}" in found.said) is (found.tries > 1)


@pytest.mark.parametrize("ref", ["", "v3.0.0-beta1", "c8ed610dec3d26d69e1aa6529cb86201a2b1e55c"])
def test_without_releases_those_that_belong_to_the_ref_are_meant(ref: str) -> None:
    own = dict.fromkeys(("source", "python", "paddle", "in", "image"), "") | {"ref": ref}
    chosen = options("loopback")
    asked = orders("custom_cpu", own, chosen, is_counted=False, matrix=True)
    assert [order.paddle for order in asked] == ["2.6.2", "3.0.0b2", "3.0.0", "3.3.1"]
    own["paddle"] = "3.3.1, 3.0.0"
    asked = orders("custom_cpu", own, chosen, is_counted=False, matrix=True)
    assert [order.paddle for order in asked] == ["3.3.1", "3.0.0"]


def test_each_wheel_is_told_of_with_its_load_and_its_papers(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [built(home, release) for release in ("3.0.0", "3.3.1")]
    found = [build_matrix.Cell(a, b, "loads" if a == b else "crash", "", 1, 1)
             for a in ("3.0.0", "3.3.1") for b in ("3.0.0", "3.3.1")]  # fmt: skip
    verdict = Verdict(0, {}, [], "registered: custom_cpu")
    monkeypatch.setattr(
        "checks.wheels.built.papers_of_recipe",
        lambda one: Papers([one.wheel.with_name("x.intoto.json")], verdict),
    )
    told = build_matrix.as_json(build_matrix.described(made, found), found)
    wheels = cast(list[dict[str, object]], told["wheels"])
    assert [(one["paddle"], one["trial"]) for one in wheels] == [
        ("3.0.0", "loads"), ("3.3.1", "loads"),
    ]  # fmt: skip
    assert all(one["papers"] and one["audit"] for one in wheels)
