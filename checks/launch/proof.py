"""What the cards showed while a run was at work, as reasons for its verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.judge.verdict import Cause, Reason, failed, holds, unknown
from checks.launch.watch import Ill, Usage
from provision.amounts import MIB, duration, size
from provision.words import text


def reasons(usage: Usage, numbers: Sequence[int], tool: str) -> Iterator[Reason]:
    """Whether each of the run's cards (their numbers) had memory in use, and stayed well."""
    if not usage.looks or set(usage.taken) != set(numbers):
        yield unknown("memory-untold", tool=tool)
    elif len(usage.idle) == len(numbers):
        yield unknown("memory-none", tool=tool)
    elif usage.idle:
        yield unknown("memory-idle", tool=tool, cards=", ".join(map(str, usage.idle)))
    else:
        most = max(usage.during.values()), max(usage.before.values())
        yield holds("memory-used", peak=size(most[0] * MIB), before=size(most[1] * MIB), tool=tool,
                    cards=len(numbers))  # fmt: skip
    for one in usage.ill:
        yield failed("card-ill", tool=tool, **_values(one))


def causes(usage: Usage, step: object) -> Iterator[Cause]:
    """The first card that was no longer well: what comes after it may follow from that."""
    for one in usage.ill[:1]:
        yield Cause("card-ill", {**_values(one), "step": step}, None)


def _values(one: Ill) -> dict[str, object]:
    """What the sentences say of a card."""
    now = one.now or text("launch.ill-gone")
    return {"card": one.card, "before": one.before, "now": now, "time": duration(one.seconds)}


def proved(usage: Usage, numbers: Sequence[int]) -> bool:
    """Whether each card had memory of the run in use."""
    return bool(usage.looks) and set(usage.taken) == set(numbers) and not usage.idle


def figures(usage: Usage) -> dict[str, float | int | str]:
    """Bytes in use on the fullest card, before the run and at most during it."""
    found: dict[str, float | int | str] = {}
    if usage.before:
        found["memory_before_bytes"] = max(usage.before.values()) * MIB
    if usage.during:
        found["memory_peak_bytes"] = max(usage.during.values()) * MIB
    return found
