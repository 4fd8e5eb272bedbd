"""Judges the logs of a training run: whether it trained, to its end, on every rank."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median

from checks.judge import common
from checks.judge.levels import Levels, Training
from checks.judge.reading import LogRead
from checks.judge.seen import Seen
from checks.judge.series import Series
from checks.judge.verdict import Reason, Verdict, failed, holds, unknown, warning


def judge(
    logs: list[LogRead], levels: Levels, status: int | None = None, recipe: str = ""
) -> Verdict:
    """The verdict on a run by the logs of its ranks; the figures are those of the fullest log."""
    log = max(logs, key=lambda one: one.seen.train.count)
    series = log.seen.train
    ranges = [one for one in levels.speed if one.level == "train"] if recipe else []
    reasons = [
        *_loss(series, levels.training), *_end(log), *common.figures(series, log.seen.sampled),
        *common.device(logs, levels), *common.ending(status),
        *common.speed(series, ranges, recipe),
    ]  # fmt: skip
    return Verdict("train", levels.target, reasons, figures(log.seen))


def figures(seen: Seen) -> dict[str, float | int | str]:
    """Steps, loss, speed, and the time that is left in seconds."""
    series, total = seen.train, seen.total
    found: dict[str, float | int | str] = {}
    if last := series.last:
        found |= {"step": last.step, "loss": last.loss, "first_loss": series.points[0].loss}
    if total:
        found["steps"] = total
    if speed := series.speed:
        found["speed"] = round(speed, 6)
        if last and total and not seen.ended:
            found["seconds_left"] = round(max(total - last.step, 0) / speed)
    return found


def _loss(series: Series, rule: Training | None) -> Iterator[Reason]:
    """Whether the loss is a number and falls; the rule stands in the target's `levels.toml`."""
    if series.bad:
        point, spot = series.bad
        yield failed("not-finite", spot, step=point.step)
        return
    losses = [one.loss for one in series.points if math.isfinite(one.loss)]
    if not losses:
        yield unknown("no-steps")
    elif rule is None:
        yield unknown("no-rule")
    else:
        yield falls(losses, rule)


def falls(losses: list[float], rule: Training) -> Reason:
    """Whether losses, all of them numbers and at least one, fall by a target's rule."""
    if len(losses) < rule.least:
        return unknown("few-steps", count=len(losses), least=rule.least)
    if max(losses) == min(losses):
        return failed("stuck", count=len(losses), loss=f"{losses[0]:g}")
    some = max(int(len(losses) * rule.share), 1)
    first, last = median(losses[:some]), median(losses[-some:])
    values = {"first": f"{first:.4g}", "last": f"{last:.4g}", "share": f"{rule.share:.0%}"}
    change = (last - first) / abs(first) if first else last
    if change < -rule.flat:
        return holds("falls", **values)
    return failed("rises", **values) if change > rule.flat else unknown("flat", **values)


def _end(log: LogRead) -> Iterator[Reason]:
    """Whether the run came to its end."""
    last, total = log.seen.train.last, log.seen.total
    step = last.step if last else 0
    if log.seen.ended and (total is None or step >= total or log.seen.sampled):
        yield holds("steps-done", log.seen.ended, step=step)
    elif log.seen.ended:
        yield warning("steps-fewer", log.seen.ended, step=step, total=total)
    else:
        yield unknown("steps-cut", step=step, total=total or "?")
