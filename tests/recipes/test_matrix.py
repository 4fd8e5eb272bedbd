"""The table of `build-ops --matrix`: how often a pair is tried, and what is told of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from checks import build_matrix
from checks.build_recipe import Built
from provision.journal import Witness
from provision.wheels import recipe, store, trial
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
    assert ("of" in found.said) is (found.tries > 1)
