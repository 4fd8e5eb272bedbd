"""The figures of a run in the order of its steps, in a memory that does not grow with the log."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

from checks.judge.numbers import clock, elapsed
from checks.logs.telling import Spot

MOST = 4096  # points that are kept; then every second one of the middle goes
_ENDS = 512  # of them at the beginning and at the end all stay
_RECENT = 20


class Point(NamedTuple):
    """One line of figures: speed in steps per second; `stamp` is what stands before them."""

    step: int
    loss: float
    speed: float | None
    stamp: bytes

    @property
    def time(self) -> float | None:
        """When it was written, in seconds within the year. Few points are ever asked for it."""
        return clock(self.stamp)


class Series:
    """The points of the last run in a log, and what is odd about all of them.

    `bad`: the first whose loss is not finite. `backs`: how often the step went back or the same
    step came with another loss. `falls`: the first whose loss is below the one before it.
    """

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.count = 0
        self.runs = 1
        self.backs = 0
        self.thinned = False
        self.bad: tuple[Point, Spot] | None = None
        self.falls: tuple[Point, Spot] | None = None
        self.unread: Spot | None = None

    def add(self, point: Point, where: Callable[[], Spot]) -> None:
        """Take in the next point; `where` tells its line where that is of interest."""
        last = self.last
        self.count += 1
        if last and point.step <= last.step:
            if point[:2] == last[:2]:  # the same line once more, of another process or `tee`
                return
            self.backs += 1
            if point.step < last.step and point.step <= self.points[0].step:
                self._begin_again()
        elif last and point.loss < last.loss and self.falls is None:
            self.falls = (point, where())
        if not math.isfinite(point.loss) and self.bad is None:
            self.bad = (point, where())
        self.points.append(point)
        if len(self.points) > MOST:
            self.thinned = True
            self.points[_ENDS:-_ENDS] = self.points[_ENDS:-_ENDS:2]

    def _begin_again(self) -> None:
        """The program was started once more: only its last run is judged."""
        self.runs += 1
        self.points, self.bad, self.falls = [], None, None

    @property
    def last(self) -> Point | None:
        """The newest point."""
        return self.points[-1] if self.points else None

    @property
    def mixed(self) -> bool:
        """Whether several processes seem to have written into one log."""
        return self.backs >= self.runs and self.backs * _RECENT > self.count

    @property
    def hole(self) -> tuple[int, int] | None:
        """Two steps between which lines are missing, since the others all come as regularly.

        The first line may be one of its own. None too where not all points were kept.
        """
        steps = [one.step for one in self.points[1:]]
        strides = [b - a for a, b in itertools.pairwise(steps)]
        usual = min(strides, default=0)
        if self.thinned or self.mixed:
            return None
        return next(((a, b) for a, b in itertools.pairwise(steps) if b - a != usual), None)

    @property
    def speed(self) -> float | None:
        """The median speed of the newest points, in steps per second."""
        known = [one.speed for one in self.points[-_RECENT:] if one.speed]
        return median(known) if known else None

    @property
    def interval(self) -> float | None:
        """The median time between two points that follow each other, in seconds."""
        return _median_of([one.time for one in self.points[-_RECENT:]])


def _median_of(times: Sequence[float | None]) -> float | None:
    gaps = [elapsed(a, b) for a, b in itertools.pairwise(times)]
    known = [gap for gap in gaps if gap is not None]
    return median(known) if known else None
