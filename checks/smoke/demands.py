"""What a target's data demands of a level's figures, beside what the probes check themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from checks.judge.training import falls
from checks.smoke.settings import Level, Range, Smoke
from provision.words import text


class Demand(NamedTuple):
    """One demand, and what was found: `error` is None where it is met."""

    name: str
    detail: str
    error: str | None


def demanded(
    level: Level,
    settings: Smoke,
    figures: Mapping[str, float],
    series: Mapping[str, Sequence[float]],
) -> Iterator[Demand]:
    """The demands on a level: that the loss falls, that figures are within their ranges."""
    if level == "train" and settings.train:
        reason = falls(list(series.get("loss", ())), settings.train.falls)
        error = None if reason.state == "holds" else reason.sentence
        yield Demand("loss_falls", reason.sentence, error)
    if level == "perf" and settings.perf:
        yield from (_within(one, figures.get(one.figure)) for one in settings.perf.ranges)


def _within(wanted: Range, value: float | None) -> Demand:
    """Whether a figure was measured and is within its range."""
    name = f"{wanted.figure}_range"
    if value is None:
        return Demand(name, "", text("smoke.range.missing"))
    values = {
        "value": f"{value:,.10g}",
        "low": f"{wanted.low:,.10g}",
        "high": f"{wanted.high:,.10g}",
    }
    if wanted.low <= value <= wanted.high:  # also false for NaN
        return Demand(name, text("smoke.range.within", **values), None)
    return Demand(name, "", text("smoke.range.outside", source=wanted.source, **values))
