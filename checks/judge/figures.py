"""The lines of figures: progress and result of an evaluation, progress and end of a training run.

Formats: PaddleNLP, slm/examples/benchmark/wiki_lambada/eval.py and paddlenlp/trainer/trainer.py.
"""

from __future__ import annotations

import functools
import math
import re

from checks.judge.numbers import number, whole
from checks.judge.places import ON, spot_at, stamp, text_at
from checks.judge.seen import MANY, Result, Seen
from checks.judge.series import Point
from checks.logs.window import Window

_BACK = 320  # bytes: no line of figures is longer before its word

_EVAL = re.compile(r"step (\d+), batch: \d+, (loss|number correct): (\S+?), speed: (\S+) step/s")
_TRAIN = re.compile(
    r"loss'?: (\S+?),\s+(?:'?[A-Za-z_]\w*'?: [^\s,]+,\s+){0,12}?'?global_step'?: (\S+?)(?=[,}\s]|$)"
)
_BEGUN = re.compile(r"loss'?: \S+,\s+'?learning_rate'?: \S")
_RUNTIME = re.compile(r"'?interval_runtime'?: ([\d.]+)")
_STEPS = re.compile(r"'?interval_steps_per_second'?: ([\d.eE+-]+)")
_RESULT = re.compile(
    r"avg loss: (\S+) \| ppl: (\S+) \| adjusted ppl: (\S+) \| token ratio: (\S+) \|"
)
_NOT_FINITE = ("nan", "inf", "-inf")
_TOKENS = re.compile(r"Original Tokens: (\d+), Detokenized tokens: (\d+)")
_TOTAL = re.compile(r"Total optimization steps = ([\d,]+)")


def evaluated(seen: Seen, window: Window, place: int, log: int) -> None:
    """A line of an evaluation's progress."""
    match = _EVAL.search(text_at(window, place - 16, place + ON))
    if not match:
        return
    where = functools.partial(spot_at, window, place, log)
    if match[2] != "loss":
        seen.cloze = seen.cloze or where()
        return
    loss, speed = number(match[3]), number(match[4])
    if loss is None or speed is None:
        seen.evals.unread = seen.evals.unread or where()
        return
    seen.evals.add(Point(int(match[1]), loss, speed, stamp(window, place)), where)


def trained(seen: Seen, window: Window, place: int, log: int) -> None:
    """A line of a training run's progress."""
    low = max(place - _BACK, 0)
    begin = window.data.rfind(b"loss: ", low, place)
    if begin < 0 and (begin := window.data.rfind(b"loss': ", low, place)) < 0:
        return
    text = text_at(window, begin, place + ON)
    match, where = _TRAIN.match(text), functools.partial(spot_at, window, begin, log)
    loss = number(match[1]) if match else None
    step = whole(match[2]) if match else None
    if match is None or loss is None or step is None:
        if match or _BEGUN.match(text):
            seen.train.unread = seen.train.unread or where()
        return
    rest = text[match.end() :].partition("loss: ")[0]
    seen.train.add(Point(step, loss, _speed(seen, step, rest), stamp(window, begin)), where)


def _speed(seen: Seen, step: int, rest: str) -> float | None:
    """Steps per second: by the interval's length, since old releases print batches in their place.

    Its steps are those since the point before; where some are left out, as many as before that.
    """
    last, runtime = seen.train.last, _RUNTIME.search(rest)
    if last and not seen.sampled:
        seen.stride = step - last.step
    if runtime is None:
        printed = _STEPS.search(rest)
        return number(printed[1]) if printed else None
    seconds = number(runtime[1])
    return seen.stride / seconds if seconds and seen.stride > 0 else None


def not_finite(seen: Seen, window: Window, place: int, log: int) -> None:
    """A loss that is no number: found in every line, also where only some lines are read."""
    text, spot = text_at(window, place - 40, place + ON), spot_at(window, place, log)
    if (match := _TRAIN.search(text)) and (loss := number(match[1])) is not None:
        step = whole(match[2])
        if seen.train.bad is None and step is not None and not math.isfinite(loss):
            seen.train.bad = (Point(step, loss, None, b""), spot)
    elif (match := _EVAL.search(text)) and seen.evals.bad is None and match[3] in _NOT_FINITE:
        seen.evals.bad = (Point(int(match[1]), float(match[3]), None, b""), spot)


def result(seen: Seen, window: Window, place: int, log: int) -> None:
    """The result line of an evaluation."""
    spot = spot_at(window, place, log)
    match = _RESULT.search(text_at(window, place, place + 2 * ON))
    if match is None:
        seen.result_begun = spot
    elif len(seen.results) < MANY:
        seen.results.setdefault(Result(*match.groups()), spot)


def tokens(seen: Seen, window: Window, place: int, log: int) -> None:
    """How many tokens and words the program counted in its text."""
    if match := _TOKENS.search(text_at(window, place, place + 120)):
        seen.tokens = int(match[1]), int(match[2])


def total(seen: Seen, window: Window, place: int, log: int) -> None:
    """How many steps the training run will have."""
    if match := _TOTAL.search(text_at(window, place, place + 80)):
        seen.total = whole(match[1])


def ended(seen: Seen, window: Window, place: int, log: int) -> None:
    """The trainer's last figures come once all steps are done."""
    seen.ended = spot_at(window, place, log)
