"""What the judges of all levels look at: where it ran, how it ended, how fast it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.judge.levels import Levels, Speed
from checks.judge.reading import LogRead
from checks.judge.series import Series
from checks.judge.verdict import Reason, failed, holds, unknown, warning
from provision.facts.command import signal_name


def device(logs: list[LogRead], levels: Levels) -> Iterator[Reason]:
    """Whether the logs prove that the run was on the device; `--device` in them proves nothing."""
    name = levels.device
    skipped = next((one.seen.skipped for one in logs if one.seen.skipped), None)
    proof = next((one.seen.proofs[name] for one in logs if name in one.seen.proofs), None)
    if proof:
        yield holds("device", proof, device=name)
    elif skipped:
        yield failed("device-skipped", skipped, device=name)
    elif other := next(((one, its) for log in logs for one, its in log.seen.proofs.items()), None):
        yield failed("device-other", other[1], found=other[0], device=name)
    else:
        yield unknown("device-missing", device=name)
    if levels.proof.end and proof and not any(name in one.seen.ends for one in logs):
        yield unknown("end-missing", device=name)
    if count := sum(one.seen.fallback for one in logs):
        yield warning("fallback", count=count)


def ending(status: int | None) -> Iterator[Reason]:
    """How the program ended, where that is known: a negative status is a signal's number."""
    if status is None:
        return
    if status < 0:
        yield failed("killed", signal=signal_name(-status))
    elif status:
        yield failed("status", status=status)
    else:
        yield holds("status-zero")


def figures(series: Series, sampled: bool) -> Iterator[Reason]:
    """What is odd about a series of figures, whatever they mean; `sampled`: some were left out."""
    if not sampled and (hole := series.hole):
        yield unknown("hole", begin=hole[0], end=hole[1])
    if series.unread:
        yield unknown("unreadable", series.unread)
    if series.mixed:
        yield unknown("mixed", runs=series.runs)
    elif series.runs > 1:
        yield warning("restarted", runs=series.runs)


def speed(series: Series, ranges: Sequence[Speed], recipe: str = "") -> Iterator[Reason]:
    """Whether the speed is in the stated range."""
    found = series.speed
    stated = next((one for one in ranges if one.recipe in ("", recipe)), None)
    if found is None or stated is None:
        return
    values = {"speed": f"{found:.3g}", "low": f"{stated.low:g}", "unit": stated.unit}
    if found < stated.low:
        yield warning("slow", **values)
    else:
        yield holds("speed", **values)
