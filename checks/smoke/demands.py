"""What a target's data demands of a level's figures, beside what the probes check themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from checks.judge.training import falls
from checks.smoke.settings import Level, Normal, Range, Smoke
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
    *,
    on_card: bool = False,
) -> Iterator[Demand]:
    """The demands on a level: that the loss falls, that figures are within their ranges.

    `on_card`: a card has computed; what is said to be normal for cards is judged only then.
    """
    if level == "train" and settings.train:
        reason = falls(list(series.get("loss", ())), settings.train.falls)
        error = None if reason.state == "holds" else reason.sentence
        yield Demand("loss_falls", reason.sentence, error)
    if level == "perf" and settings.perf:
        yield from (_within(one, figures.get(one.figure)) for one in settings.perf.ranges)
    if level == "ops" and settings.latency and on_card:
        yield from (_normal(one, figures.get(one.figure)) for one in settings.latency.normal)


def _normal(wanted: Normal, value: float | None) -> Demand:
    """Whether a latency is not suspicious; that it is beside the normal range is only told."""
    name = f"{wanted.figure}_normal"
    if value is None:
        return Demand(name, "", text("smoke.range.missing"))
    values = {one: f"{getattr(wanted, one):.10g}" for one in ("low", "high", "suspicious")}
    values |= {"figure": wanted.figure, "value": f"{value:.3g}", "source": wanted.source}
    if not value <= wanted.suspicious:  # also of NaN
        return Demand(name, "", text("smoke.normal.suspicious", **values))
    key = "below" if value < wanted.low else "within" if value <= wanted.high else "above"
    return Demand(name, text(f"smoke.normal.{key}", **values), None)


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
