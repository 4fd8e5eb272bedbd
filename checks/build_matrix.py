"""`build-ops --matrix`: each wheel built for one Paddle, loaded into each of the others."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from checks import build_recipe
from checks.build_recipe import Built, Say, build
from provision.errors import PaddockError
from provision.progress import Progress
from provision.wheels import trial
from provision.wheels.order import Order
from provision.words import text

if TYPE_CHECKING:
    from checks.wheels.built import Papers

TRIES = 5
"""How often a wheel is loaded into another release, while that goes well. Measured for one pair: of
12 loads 8 crashed, 2 hung and 2 computed."""


class Cell(msgspec.Struct, frozen=True):
    """What came of a wheel built for one release and run with another.

    It was tried `tries` times, until one did not compute; `verdict` is that of the last, and
    `computed` is how many did.
    """

    built: str
    run: str
    verdict: trial.Verdict
    line: str
    tries: int
    computed: int

    @property
    def said(self) -> str:
        """The cell for people."""
        verdict = text(f"trial.{self.verdict}")
        if self.tries == 1:
            return verdict
        return text("matrix.cell", verdict=verdict, computed=self.computed, tries=self.tries)


def cells(
    orders: Sequence[Order], say: Say, progress: Callable[[], Progress]
) -> tuple[list[Built], list[Cell]]:
    """Build for each release and load each wheel into each; nothing is taken for known.

    Raises PaddockError of the builds; `bad-option` for a backend whose plugin needs hardware, and
    where no releases were named.
    """
    _refuse(orders)
    made = [build(order, say, progress) for order in orders]
    found = []
    for wheel in made:
        for other in made:
            one = _cell(wheel, other)
            say(f"  {one.built} -> {one.run}: {one.said}")
            found.append(one)
    return made, found


def described(made: Sequence[Built], found: Iterable[Cell]) -> list[tuple[Built, Papers]]:
    """Each wheel with what goes with it, and how it loaded into the release that it is for."""
    from checks.wheels.built import papers_of_recipe

    own = {cell.built: trial.Trial(cell.verdict, cell.line) for cell in found
           if cell.built == cell.run}  # fmt: skip
    whole = [dataclasses.replace(one, trial=own[one.work.python.paddle]) for one in made]
    return [(one, papers_of_recipe(one)) for one in whole]


def _refuse(orders: Sequence[Order]) -> None:
    releases = [order.paddle for order in orders]
    if not all(releases) or len(set(releases)) < len(releases):
        value, wanted = ",".join(releases), text("wanted.matrix")
        raise PaddockError("bad-option", option="--paddle", value=value, wanted=wanted)
    from provision.wheels.recipe import load

    if load(orders[0].backend).pieces or not load(orders[0].backend).library:
        raise PaddockError("flag-needs", one="--matrix", other="--backend custom_cpu")
    if orders[0].place != "venv":
        raise PaddockError("flags-apart", one="--matrix", other=f"--in {orders[0].place}")


def _cell(wheel: Built, other: Built) -> Cell:
    """One wheel in the environment of another release: there one good load may be chance."""
    device, place = wheel.work.recipe.device, trial.Place(other.work.python.python)
    built, run = wheel.work.python.paddle, other.work.python.paddle
    tries = computed = 0
    while tries == computed < (1 if built == run else TRIES):
        found = trial.load(wheel.wheel, place, device, compute=True)
        tries, computed = tries + 1, computed + (found.verdict == "loads")
    return Cell(built, run, found.verdict, found.line, tries, computed)


def table(found: Iterable[Cell]) -> Iterator[str]:
    """The cells as lines: a row for each build, a column for each run."""
    rows: dict[str, dict[str, str]] = {}
    for cell in found:
        rows.setdefault(cell.built, {})[cell.run] = cell.said
    width = max(len(word) for row in rows.values() for word in [*row, *row.values()]) + 2
    yield text("matrix.title")
    yield "  " + " " * 10 + "".join(f"{name:<{width}}" for name in rows).rstrip()
    for name, row in rows.items():
        yield f"  {name:<10}" + "".join(f"{row[run]:<{width}}" for run in rows).rstrip()


def as_json(made: Sequence[tuple[Built, Papers]], found: Sequence[Cell]) -> dict[str, object]:
    """The cells as JSON values, schema `paddock/matrix/1`."""
    first = made[0][0].work
    return {
        "schema": "paddock/matrix/1", "backend": first.recipe.backend,
        "commit": first.source.commit or None, "limit": trial.LIMIT,
        "cells": msgspec.to_builtins(found),
        "wheels": [build_recipe.as_json(one) | papers.to_json() for one, papers in made],
    }  # fmt: skip
