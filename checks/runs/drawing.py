"""Where things stand in the drawings of the runs' page: curves, and the steps on a line of time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from provision.amounts import duration
from provision.journal import Entry

WIDE, HIGH, EDGE = 460, 120, 8  # of a curve
_ROW, _NAME, _TIME = 24, 230, 560  # of the line of time: a row's height, its name, its bars


class Curve(msgspec.Struct, frozen=True):
    """Values in their order; `points` are those of an SVG polyline, none of a value that is none.

    `place` is where the last one stands.
    """

    name: str
    points: str
    place: tuple[float, float]
    lowest: str
    highest: str
    last: str
    count: int


class Bar(msgspec.Struct, frozen=True):
    """A step: from `x` on, `wide` long, in the row at `y`."""

    name: str
    x: float
    wide: float
    y: int
    said: str


class Line(msgspec.Struct, frozen=True):
    """The steps of one run of provision. `run` is its name, `high` the drawing's height."""

    run: str
    high: int
    bars: list[Bar]
    wide: int = _NAME + _TIME + 100


def curve(name: str, values: Sequence[float]) -> Curve | None:
    """The curve of these values; None for fewer than two that are finite."""
    real = [(at, one) for at, one in enumerate(values) if math.isfinite(one)]
    if len(real) < 2:  # noqa: PLR2004 - one point is no curve
        return None
    low, high = min(one for _, one in real), max(one for _, one in real)
    across, up = (WIDE - 2 * EDGE) / (len(values) - 1), (HIGH - 2 * EDGE) / ((high - low) or 1)
    at = [(round(EDGE + x * across, 1), round(HIGH - EDGE - (y - low) * up, 1)) for x, y in real]
    return Curve(
        name, " ".join(f"{x},{y}" for x, y in at), at[-1], f"{low:.6g}", f"{high:.6g}",
        f"{real[-1][1]:.6g}", len(real),
    )  # fmt: skip


def line_of_time(entries: Iterable[Entry], smoke: str) -> Line | None:
    """The steps of the run that did the most, the newest of such; `smoke` names what is no step."""
    runs: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.event in ("done", "failed") and entry.run and entry.step != smoke:
            runs.setdefault(entry.run, []).append(entry)
    if not runs:
        return None
    name, steps = max(reversed(runs.items()), key=lambda one: len(one[1]))
    begin = min(one.time - one.seconds for one in steps)
    whole = max(max(one.time for one in steps) - begin, 1e-3)
    scale = _TIME / whole
    bars = [
        Bar(one.step, round(_NAME + (one.time - one.seconds - begin) * scale, 1),
            round(max(one.seconds * scale, 2), 1), place * _ROW, duration(one.seconds))
        for place, one in enumerate(sorted(steps, key=lambda one: one.time - one.seconds))
    ]  # fmt: skip
    return Line(name, len(bars) * _ROW, bars)
