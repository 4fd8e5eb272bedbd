"""How runs of the smoke tests differ: versions, verdicts, figures, and whether one got slower."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

import msgspec

from checks.runs.record import Run

# By the end of its name: whether more of a figure is better. Others are results, not speeds.
_BETTER = {"_per_second": True, "_seconds": False, "_bytes": False}
_EARLIER = 10  # runs that a new one is held against
_LEAST = 3  # of them, before anything is said
_SHARE = 0.10  # below this a difference is noise on any machine
_SPREADS = 3.0


class Figure(msgspec.Struct, frozen=True):
    """A figure of two runs; None where one has none."""

    name: str
    a: float | None
    b: float | None


class Worse(msgspec.Struct, frozen=True):
    """A figure that is worse than in the runs before: its value, their median, how many."""

    name: str
    value: float
    median: float
    runs: int


class Compared(msgspec.Struct, frozen=True):
    """Two runs beside each other; each list has what differs, figures also what is equal."""

    a: Run
    b: Run
    versions: list[tuple[str, str, str]]
    verdicts: list[tuple[str, str, str]]
    figures: list[Figure]
    worse: list[Worse]


def compare(a: Run, b: Run, earlier: Sequence[Run]) -> Compared:
    """Run `b` against run `a`; `earlier` are those by which `b` is judged."""
    mine, other = figures(a), figures(b)
    return Compared(
        a, b, list(_differing(_versions(a), _versions(b))),
        list(_differing(_verdicts(a), _verdicts(b))),
        [Figure(name, mine.get(name), other.get(name)) for name in sorted(mine | other)],
        worse(b, earlier),
    )  # fmt: skip


def worse(run: Run, earlier: Sequence[Run]) -> list[Worse]:
    """The speeds of a run that are worse than in the last runs of the same release and device.

    Worse is: beyond the median of up to ten runs that passed by more than a tenth of it, and by
    more than three times their median absolute deviation. Fewer than three runs say nothing.
    """
    kin = [one for one in earlier if one.time < run.time and one.smoke.passed and _kin(one, run)]
    found = []
    for name, value in figures(run).items():
        more = next((up for end, up in _BETTER.items() if name.endswith(end)), None)
        before = [figures(one)[name] for one in kin if name in figures(one)][-_EARLIER:]
        if more is None or len(before) < _LEAST:
            continue
        median = statistics.median(before)
        spread = statistics.median(abs(one - median) for one in before)
        lost = median - value if more else value - median
        if lost > max(_SHARE * median, _SPREADS * spread):
            found.append(Worse(name, value, median, len(before)))
    return found


def figures(run: Run) -> dict[str, float]:
    """The figures of a run, by level and name."""
    return {f"{level.level}.{name}": value for level in run.smoke.levels
            for name, value in level.figures.items()}  # fmt: skip


def _kin(one: Run, other: Run) -> bool:
    """Whether two runs may be held against each other."""
    same = (one.target, one.release, one.stand_in) == (other.target, other.release, other.stand_in)
    return same and one.id != other.id


def _versions(run: Run) -> dict[str, str]:
    return {**run.versions, **{f"pin {name}": pin for name, pin in run.pins.items()},
            "release": run.release, "lock": run.lock[:12]}  # fmt: skip


def _verdicts(run: Run) -> dict[str, str]:
    """Each check of each level: passed, or what was wrong."""
    return {f"{level.level}/{check.name}": "passed" if check.passed else check.error or "failed"
            for level in run.smoke.levels for check in level.checks}  # fmt: skip


def _differing(a: dict[str, str], b: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """The names whose values differ, `-` for none."""
    for name in sorted(a | b):
        if a.get(name) != b.get(name):
            yield name, a.get(name, "-"), b.get(name, "-")
