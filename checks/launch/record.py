"""A run of a recipe as a level of the record that `history` and `report` read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from checks.judge.diagnose import Diagnosis
from checks.judge.levels import Levels
from checks.judge.series import Point
from checks.judge.verdict import Reason
from checks.launch import proof
from checks.launch.demand import length
from checks.launch.live import Ended
from checks.launch.watch import Usage
from checks.launch.wish import Filled
from checks.smoke.report import Check, LevelReport, SmokeReport
from provision.facts import small

_POINTS = 1000  # of a curve
_TAIL = 64 << 10  # bytes of a log's end
_LINES = 40
# Figures of a verdict by the names that tell `history` how to weigh them; a speed is in steps.
_NAMES = {"step": "steps", "speed": "steps_per_second", "ppl": "perplexity",
          "adjusted": "adjusted_perplexity", "ratio": "token_ratio"}  # fmt: skip
_LEFT_OUT = ("steps", "seconds_left")  # what was wanted, and what was still to come


class Result(NamedTuple):
    """A recipe that ran: the folder of its logs, how it ended, what was found, and its cards."""

    one: Filled
    folder: Path
    ended: Ended
    found: Diagnosis
    usage: Usage


def report(results: Sequence[Result], known: Levels, stand_in: str | None) -> SmokeReport:
    """All recipes of one command. `stand_in` says that no card computed."""
    levels = tuple(_level(one, known, stand_in) for one in results)
    passed = all(level.passed for level in levels)
    return SmokeReport(stand_in=stand_in, device=known.device, passed=passed, levels=levels)


def _level(result: Result, known: Levels, stand_in: str | None) -> LevelReport:
    """One recipe. Its figures have its name before theirs, since a level may have several."""
    [verdict] = result.found.verdicts
    passed, name = verdict.outcome == "passed", _name(result.one)
    logged = any(one.key == "device" and one.state == "holds" for one in verdict.reasons)
    on_device = logged and proof.proved(result.usage, result.one.cards)
    figures = {**verdict.figures, **tokens(result.one, known, verdict.figures.get("speed"))}
    return LevelReport(
        level=result.one.recipe.level, device=known.device if on_device else "", passed=passed,
        checks=tuple(_check(result.one.recipe.name, one) for one in verdict.reasons),
        seconds=round(result.ended.seconds, 3), native={}, fallback={},
        figures={f"{name}.{_NAMES.get(key, key)}": float(value) for key, value in figures.items()
                 if key not in _LEFT_OUT and _is_number(value)},
        skipped={}, log=() if passed else _tail(result.folder / "run.log"), counted=False,
        stand_in=stand_in, series=_series(result, name),
    )  # fmt: skip


def _name(one: Filled) -> str:
    """The recipe's name; on another number of cards its figures are others."""
    count, usual = len(one.cards), one.recipe.cards
    return one.recipe.name if count == usual else f"{one.recipe.name}-{count}-cards"


def _check(recipe: str, reason: Reason) -> Check:
    """A reason as a check; a warning does not fail it."""
    passed, said = reason.state in ("holds", "warning"), reason.sentence
    return Check(f"{recipe}/{reason.key}", passed=passed, detail=said if passed else "",
                 error=None if passed else said)  # fmt: skip


def _is_number(value: object) -> bool:
    """JSON has no NaN."""
    return isinstance(value, int | float) and math.isfinite(value)


def tokens(one: Filled, known: Levels, speed: object) -> dict[str, float]:
    """Tokens per second, where each step has as many: by the arguments and the steps' speed.

    Pretraining fills each sequence, fine-tuning where it pads to the whole length (pads count). An
    evaluation scores in each step its window of each sequence.
    """
    if not isinstance(speed, int | float):
        return {}
    given, window = one.arguments, known.perplexity.window if known.perplexity else 0
    if one.recipe.level == "model" and window:
        return {"tokens_per_second": speed * int(given["batch_size"]) * window}
    whole = "max_seq_length" in given or given.get("pad_to_multiple_of") == given.get("max_length")
    if one.recipe.level != "train" or not whole:
        return {}
    shares = one.degrees["tensor_parallel_degree"] * one.degrees["pipeline_parallel_degree"]
    batch = int(given["per_device_train_batch_size"]) * int(given["gradient_accumulation_steps"])
    return {"tokens_per_second": speed * batch * (len(one.cards) // shares) * length(given)}


def _series(result: Result, name: str) -> dict[str, list[float]]:
    """Loss and speed step by step, of the log that has most."""
    seen = [log.seen for log in result.found.reading.logs]
    all_points = [part.points for one in seen for part in (one.train, one.evals)]
    points: list[Point] = max(all_points, key=len, default=[])
    every = max(math.ceil(len(points) / _POINTS), 1)
    some = points[::every]
    curves = {
        "loss": [one.loss for one in some if math.isfinite(one.loss)],
        "steps_per_second": [one.speed for one in some if one.speed and math.isfinite(one.speed)],
    }
    return {f"{name}.{key}": values for key, values in curves.items() if values}


def _tail(log: Path) -> tuple[str, ...]:
    """The last lines of a log."""
    try:
        with small.opened(log) as stream:
            stream.seek(max(log.stat().st_size - _TAIL, 0))
            lines = stream.read(_TAIL).decode("utf-8", "replace").splitlines()
    except OSError:
        return ()
    return tuple(line[:500] for line in lines[-_LINES:])
