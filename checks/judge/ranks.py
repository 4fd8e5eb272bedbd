"""The ranks of a run by their logs: which failed first, and which hang."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from checks.judge.numbers import elapsed
from checks.judge.reading import LogRead
from checks.logs.scan import Find, ordered
from checks.logs.telling import Spot

_NAME = re.compile(r"workerlog\.(\d+)|rank[_.-]?(\d+)")
# What a rank says when another one has failed: it waited, or lost its connection.
_AFTER = ("distributed", "network")
LONG = 10  # times the usual time of a step without one, and at least
LEAST = 120.0  # seconds


class Failed(NamedTuple):
    """The first error of a rank: `later` where it only says that another one is gone."""

    later: bool
    time: float
    rank: str
    log: LogRead
    spot: Spot
    find: Find | None


class Hanging(NamedTuple):
    """A run or some ranks without progress: for how many seconds, None where nothing tells."""

    seconds: float | None
    step: int | None
    ranks: tuple[str, ...]


def rank_of(name: str) -> str:
    """The rank whose log this is, "" where its name does not tell."""
    match = _NAME.search(Path(name).name)
    return (match[1] or match[2]) if match else ""


def unordered(logs: Sequence[LogRead]) -> tuple[str, ...]:
    """The ranks of which no time tells which failed first; none where it is told."""
    first = first_failed(logs)
    found = [one for log in logs if (one := _failed(log)) and one.rank]
    if first is None or first.time < math.inf:
        return ()
    same = sorted({one.rank for one in found if one.later == first.later}, key=_order)
    return tuple(same) if len(same) > 1 else ()


def first_failed(logs: Sequence[LogRead]) -> Failed | None:
    """The rank that failed first: by time, and one with an error of its own before all others."""
    found = [one for log in logs if (one := _failed(log))]
    # The launcher shows rank 0's lines too: the rank's own log comes first.
    return min(
        found, key=lambda one: (one.later, one.time, not one.rank, _order(one.rank)), default=None
    )


def _order(rank: str) -> int:
    return int(rank) if rank else 0


def _failed(log: LogRead) -> Failed | None:
    """The first error in a log of its own, else the first that speaks of others."""
    rank, seen = rank_of(log.name), log.seen
    found = [
        Failed(find.failure.group in _AFTER, _or_last(log.when.get(find.failure.id)), rank, log,
               find.first, find)
        for find, _ in ordered(log.finds.values())
    ]  # fmt: skip
    if not found and seen.memory:
        found.append(
            Failed(False, _or_last(seen.traceback_time), rank, log, seen.memory[0].spot, None)
        )
    elif not found and seen.traceback:
        spot = next((one for one in log.telling.best() if one >= seen.traceback), seen.traceback)
        found.append(Failed(False, _or_last(seen.traceback_time), rank, log, spot, None))
    return min(found, key=lambda one: (one.later, one.time, one.spot), default=None)


def _or_last(time: float | None) -> float:
    """A time, or one that comes after all others."""
    return math.inf if time is None else time


def hanging(logs: Sequence[LogRead]) -> Hanging | None:
    """Whether a run has stopped making progress without an error of its own."""
    main = max(logs, key=lambda one: one.seen.train.count + one.seen.evals.count)
    series = main.seen.train if main.seen.train.count else main.seen.evals
    last = series.last
    if last is None or main.seen.ended or main.seen.results:
        return None
    patience = max(LONG * (series.interval or 0.0), LEAST)
    if silent := _silent(logs, patience):
        return silent._replace(step=last.step)
    ends = [one.seen.end for one in logs if one.seen.end]
    seconds = elapsed(last.time, max(ends, default=None))
    own = [one for one in logs if (error := _failed(one)) and not error.later]
    return Hanging(seconds, last.step, ()) if seconds and seconds > patience and not own else None


def _silent(logs: Sequence[LogRead], patience: float) -> Hanging | None:
    """The ranks without an error that wrote nothing while the others waited for them in vain."""
    named = [one for one in logs if rank_of(one.name)]
    waiting = [one for one in named if (error := _failed(one)) and error.later]
    quiet = [one for one in named if _failed(one) is None]
    if len(named) < 2 or not waiting or not quiet or len(waiting) + len(quiet) < len(named):  # noqa: PLR2004
        return None
    gaps = [elapsed(q.seen.end, w.seen.end) for q in quiet for w in waiting]
    known = [gap for gap in gaps if gap is not None]
    if known and max(known) < min(patience, LEAST):
        return None
    ranks = tuple(sorted((rank_of(one.name) for one in quiet), key=_order))
    return Hanging(max(known, default=None), None, ranks)
