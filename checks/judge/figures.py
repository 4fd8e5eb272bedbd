"""The lines of figures: progress and result of an evaluation, progress and end of a training run.

Formats: PaddleNLP, slm/examples/benchmark/wiki_lambada/eval.py and paddlenlp/trainer/trainer.py.
"""

from __future__ import annotations

import functools
import re

from checks.judge.numbers import number, whole
from checks.judge.places import ON, spot_at, text_at, time_before
from checks.judge.seen import MANY, Result, Seen
from checks.judge.series import Point
from checks.logs.window import Window

_BACK = 320  # bytes: no line of figures is longer before its word

_EVAL = re.compile(r"step (\d+), batch: \d+, (loss|number correct): (\S+?), speed: (\S+) step/s")
_TRAIN = re.compile(
    r"loss'?: (\S+?),\s+(?:'?[A-Za-z_]\w*'?: [^\s,]+,\s+){0,12}?'?global_step'?: (\S+?)(?=[,}\s]|$)"
)
_RUNTIME = re.compile(r"'?interval_runtime'?: ([\d.]+)")
_STEPS = re.compile(r"'?interval_steps_per_second'?: ([\d.eE+-]+)")
_RESULT = re.compile(
    r"avg loss: (\S+) \| ppl: (\S+) \| adjusted ppl: (\S+) \| token ratio: (\S+) \|"
)
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
    seen.evals.add(Point(int(match[1]), loss, speed, time_before(window, place)), where)


def trained(seen: Seen, window: Window, place: int, log: int) -> None:
    """A line of a training run's progress."""
    begin = max(window.data.rfind(sign, max(place - _BACK, 0), place)
                for sign in (b"loss: ", b"loss': "))  # fmt: skip
    if begin < 0:
        return
    text = text_at(window, begin, place + ON)
    match, where = _TRAIN.match(text), functools.partial(spot_at, window, begin, log)
    loss = number(match[1]) if match else None
    step = whole(match[2]) if match else None
    if match is None or loss is None or step is None:
        seen.train.unread = seen.train.unread or where()
        return
    rest = text[match.end() :].partition("loss: ")[0]
    seen.train.add(Point(step, loss, _speed(seen, step, rest), time_before(window, begin)), where)


def _speed(seen: Seen, step: int, rest: str) -> float | None:
    """Steps per second: by the interval's length, since old releases print batches in their place.

    Without the point before it the number of steps in the interval is not known.
    """
    last, runtime, printed = seen.train.last, _RUNTIME.search(rest), _STEPS.search(rest)
    seconds = number(runtime[1]) if runtime else None
    if last and seconds and step > last.step:
        return (step - last.step) / seconds
    return number(printed[1]) if printed and not runtime else None


def result(seen: Seen, window: Window, place: int, log: int) -> None:
    """The result line of an evaluation."""
    spot, match = (
        spot_at(window, place, log),
        _RESULT.search(text_at(window, place, place + 2 * ON)),
    )
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
