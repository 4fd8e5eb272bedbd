"""What `build-ops --matrix` has found, as a table for people and as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

import msgspec

from checks import build_recipe
from checks.build_matrix import Cell, Row
from checks.build_recipe import UNTRIED, Built
from provision.columns import left, width
from provision.errors import PaddockError
from provision.wheels import trial
from provision.words import text

if TYPE_CHECKING:
    from checks.wheels.built import Papers

_GAP, _NAME = 2, 10  # columns of the terminal
_LINES = 3  # that are shown of a verdict


def described(made: Iterable[Row], found: Iterable[Cell]) -> list[tuple[Built, Papers]]:
    """Each wheel with what goes with it, and how it loaded into the release that it is for."""
    from checks.wheels.built import papers_of_recipe

    own = {cell.built: trial.Trial(cell.verdict, cell.line) for cell in found
           if cell.built == cell.run}  # fmt: skip
    whole = [dataclasses.replace(row.made, trial=own.get(row.release)) for row in made
             if isinstance(row.made, Built)]  # fmt: skip
    return [(one, papers_of_recipe(one)) for one in whole]


def table(made: Sequence[Row], found: Iterable[Cell]) -> Iterator[str]:
    """The cells as lines: a row for each build, a column for each run; then what they mean."""
    found = list(found)
    said = {(cell.built, cell.run): cell.said for cell in found}
    names = [row.release for row in made]
    lines = [["", *names]]
    for row in made:
        is_built = isinstance(row.made, Built)
        run = [said.get((row.release, name), "-") for name in names if is_built]
        lines.append([row.release, *run])
    columns = zip_longest(*lines, fillvalue="")
    widths = [max(_NAME, *(width(one) + _GAP for one in column)) for column in columns]
    yield text("matrix.title")
    for line in lines:
        rest = "" if len(line) > 1 else text("cell.unbuilt")
        yield "  " + ("".join(map(left, line, widths)) + rest).rstrip()
    yield from _meaning(found)


def _meaning(found: Sequence[Cell]) -> Iterator[str]:
    """What each verdict but the good one means, and the lines that showed it."""
    for verdict in dict.fromkeys(cell.verdict for cell in found if cell.verdict != "loads"):
        yield "  " + text(f"means.{verdict}")
        shown = dict.fromkeys(cell.line for cell in found if cell.verdict == verdict and cell.line)
        yield from (f"      {line}" for line in list(shown)[:_LINES])


def failures(made: Iterable[Row], found: Iterable[Cell]) -> Iterator[tuple[str, PaddockError]]:
    """Each error once, after the releases that it befell: of builds, then of loads."""
    errors: dict[str, tuple[list[str], PaddockError]] = {}
    for row in made:
        if isinstance(row.made, PaddockError):
            same = "\n".join([*row.made.details, str(row.made)])
            errors.setdefault(same, ([], row.made))[0].append(row.release)
    for releases, error in errors.values():
        yield ", ".join(releases), error
    untried = {(cell.verdict, cell.run): cell for cell in found if cell.verdict in UNTRIED}
    for one in untried.values():
        wheel = text("matrix.wheel", release=one.built)
        yield one.run, PaddockError(UNTRIED[one.verdict], (one.line,), wheel=wheel, release=one.run)


def as_json(
    made: Sequence[Row], wheels: Sequence[tuple[Built, Papers]], found: Sequence[Cell]
) -> dict[str, object]:
    """The cells as JSON values, schema `paddock/matrix/1`; `failed`: releases without one."""
    first = made[0].work
    return {
        "schema": "paddock/matrix/1", "backend": first.recipe.backend,
        "commit": first.source.commit or None, "limit": trial.LIMIT,
        "cells": msgspec.to_builtins(found),
        "failed": [{"paddle": row.release, **row.made.to_json()} for row in made
                   if isinstance(row.made, PaddockError)],
        "wheels": [build_recipe.as_json(one) | papers.to_json() for one, papers in wheels],
    }  # fmt: skip
