"""Judges the log of PaddleNLP's evaluation of a text: its result, and whether all agrees with it.

The program (slm/examples/benchmark/wiki_lambada/eval.py) prints the running sum of the loss over
the tokens of the whole text, so that it only grows, up to the average; from that
ppl = exp(min(20, loss)), and adjusted ppl = exp(min(20, loss * token ratio)).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from checks.judge import common
from checks.judge.levels import Levels, Perplexity, Recipe
from checks.judge.numbers import elapsed, half_unit, number
from checks.judge.reading import LogRead
from checks.judge.seen import Result, Seen
from checks.judge.series import Point
from checks.judge.verdict import Reason, Verdict, failed, holds, unknown

LARGEST = 20.0  # the program's own limit of the exponent
_JUMP = 3.0  # times the largest growth between two printed steps that the last steps may bring
_CLOCK = 0.03  # relative difference between a printed speed and the clock's


def judge(logs: list[LogRead], levels: Levels, status: int | None = None) -> Verdict:
    """The verdict on an evaluation; `status` is its exit status where it is known."""
    log = max(logs, key=lambda one: (bool(one.seen.results), one.seen.evals.count))
    seen, reference = log.seen, levels.perplexity
    reasons = [
        *_result(logs, seen, reference), *_steps(log), *common.figures(seen.evals, seen.sampled),
        *common.device(logs, levels), *common.ending(status),
        *common.speed(seen.evals, [one for one in levels.speed if one.level == "model"]),
    ]  # fmt: skip
    return Verdict("model", levels.target, reasons, figures(seen, levels))


def total(tokens: int, recipe: Recipe, window: int) -> int:
    """How many steps an evaluation of so many tokens has."""
    sequences = max(math.ceil(max(tokens - 1 - window, 0) / window) + 1, 1)
    return math.ceil(sequences / int(recipe.arguments["batch_size"]))


def _steps_of(seen: Seen, levels: Levels) -> int | None:
    """The steps of this evaluation, by its tokens and the recipe's batches."""
    recipe = next(iter(levels.of("model")), None)
    if not (seen.tokens and recipe and levels.perplexity):
        return None
    return total(seen.tokens[0], recipe, levels.perplexity.window)


def figures(seen: Seen, levels: Levels) -> dict[str, float | int | str]:
    """The measured figures, and the time that is left in seconds."""
    found: dict[str, float | int | str] = {}
    last, speed, steps = seen.evals.last, seen.evals.speed, _steps_of(seen, levels)
    if last:
        found |= {"step": last.step, "loss": last.loss}
    if steps:
        found["steps"] = steps
    if speed:
        found["speed"] = round(speed, 4)
    if last and steps and speed and not seen.results:
        found["seconds_left"] = round(max(steps - last.step, 0) / speed)
    for result in seen.results:
        found |= {name: number(value) or value for name, value in result._asdict().items()}
    return found


def _result(logs: list[LogRead], seen: Seen, reference: Perplexity | None) -> Iterator[Reason]:
    """What the result lines say; several processes may print the same one."""
    every = {result: spot for one in logs for result, spot in one.seen.results.items()}
    if seen.cloze:
        yield unknown("cloze", seen.cloze)
    if len(every) > 1:
        yield unknown("result-several", count=len(every))
        return
    for result, spot in every.items():
        values = [number(one) for one in result]
        if any(one is None for one in values):
            yield unknown("unreadable", spot)
        elif not all(math.isfinite(one) for one in values if one is not None):
            yield failed("not-finite", spot, step="-")
        else:
            yield holds("result", spot, loss=result.loss, ppl=result.ppl)
            yield from _agreement(result, seen)
            yield from _expected(result, seen, reference)
    if not every and seen.result_begun:
        yield unknown("result-cut", seen.result_begun)
    elif not every and not seen.cloze:
        yield unknown("result-missing", step=seen.step if seen.step is not None else "-")


def _agreement(result: Result, seen: Seen) -> Iterator[Reason]:
    """Whether the figures of a result line follow from each other, up to their rounding."""
    loss, ppl, adjusted, ratio = (float(one) for one in result)
    moved = half_unit(result.loss)
    formulas = (
        ("ppl", loss, result.ppl, ppl, moved),
        ("adjusted ppl", loss * ratio, result.adjusted, adjusted, moved * ratio),
    )
    for name, exponent, printed, value, error in formulas:
        low = math.exp(min(LARGEST, exponent - error)) - 1.01 * half_unit(printed)
        high = math.exp(min(LARGEST, exponent + error)) + 1.01 * half_unit(printed)
        wanted = f"{math.exp(min(LARGEST, exponent)):.4E}"
        values = {"name": name, "value": printed, "wanted": wanted}
        yield (
            holds("formula", **values) if low <= value <= high else failed("formula-not", **values)
        )
    if seen.tokens:
        wanted_ratio = _ratio(*seen.tokens)
        values = {"ratio": result.ratio, "wanted": repr(wanted_ratio)}
        fits = ratio == wanted_ratio  # it is printed with all its digits
        yield holds("ratio", **values) if fits else failed("ratio-not", **values)


def _ratio(tokens: int, words: int) -> float:
    return (tokens - 1) / (words - 1) if words > 1 else math.nan


def _expected(result: Result, seen: Seen, reference: Perplexity | None) -> Iterator[Reason]:
    """Whether the perplexity is the one that this model has on this text."""
    if reference is None:
        return
    counted = _ratio(reference.tokens, reference.words)
    same = seen.tokens in (None, (reference.tokens, reference.words))
    if not same or float(result.ratio) != counted:
        yield unknown("other-data", tokens=reference.tokens, words=reference.words)
        return
    away = float(result.ppl) / reference.expected - 1
    values = {"ppl": f"{float(result.ppl):g}", "expected": f"{reference.expected:g}",
              "away": f"{away:+.2%}", "tolerance": f"{reference.tolerance:.1%}"}  # fmt: skip
    near = abs(away) <= reference.tolerance
    yield holds("ppl", **values) if near else failed("ppl-not", **values)


def _steps(log: LogRead) -> Iterator[Reason]:
    """Whether the steps' figures are possible, and lead to the result."""
    series = log.seen.evals
    if series.bad:
        point, spot = series.bad
        yield failed("not-finite", spot, step=point.step)
        return
    if series.falls and not series.mixed:
        yield failed("sum-falls", series.falls[1], step=series.falls[0].step)
    yield from _clock(series.points if not log.seen.sampled else [])
    result = next(iter(log.seen.results)) if len(log.seen.results) == 1 else None
    loss = number(result.loss) if result else None
    if result and loss is not None and math.isfinite(loss) and len(series.points) > 1:
        yield from _last_steps(series.points, loss, half_unit(result.loss))


def _last_steps(points: list[Point], loss: float, error: float) -> Iterator[Reason]:
    """The result has to lie above the last printed step, by no more than a few steps bring."""
    growth = max(b.loss - a.loss for a, b in itertools.pairwise(points))
    last = points[-1]
    if not last.loss - error <= loss <= last.loss + _JUMP * growth + error:
        yield failed("result-apart", step=last.step, last=f"{last.loss:g}", loss=f"{loss:g}")


def _clock(points: list[Point]) -> Iterator[Reason]:
    """A printed speed has to be the one that the lines' times show."""
    for before, after in itertools.pairwise(points):
        seconds = elapsed(before.time, after.time)
        if not seconds or not after.speed:
            continue
        by_clock = (after.step - before.step) / seconds
        if abs(by_clock - after.speed) > _CLOCK * by_clock + 0.005:
            values = {"step": after.step, "speed": after.speed, "clock": f"{by_clock:.3g}"}
            yield unknown("speed-clock", **values)
            return
