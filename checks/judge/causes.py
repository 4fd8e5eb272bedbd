"""The measured causes of a run that went wrong: what ran out, what became NaN, who stopped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from checks.judge.ranks import Failed, Hanging, first_failed, hanging, rank_of, unordered
from checks.judge.reading import LogRead
from checks.judge.seen import Broken, Memory
from checks.judge.series import Series
from checks.judge.verdict import Cause
from checks.logs.show import cut
from provision.amounts import duration
from provision.words import text

_PARTS = (
    "size",
    "free",
    "allocated",
    "total",
    "operator",
    "tensor",
    "layer",
    "device",
    "step",
    "rank",
)
_LINE = 160  # characters of an error's line in a sentence


def causes(logs: Sequence[LogRead]) -> list[Cause]:
    """The causes that these logs show, the first of them first."""
    first, still = first_failed(logs), hanging(logs)
    found = [*_memory(logs, first), *_nan(logs)]
    if still and (first is None or first.later):
        found.append(_hang(still))
    if first and first.rank and len(logs) > 1 and not (still and still.ranks):
        found.append(_rank(first, unordered(logs)))
    return found


def _told(values: Mapping[str, object]) -> str:
    """The values that are known, each with its name, for a sentence."""
    known = [(name, values.get(name)) for name in _PARTS]
    parts = [text(f"judge.part.{name}", value=value) for name, value in known
             if value not in ("", None)]  # fmt: skip
    return text("judge.part.and").join(parts) or text("judge.part.nothing")


def _memory(logs: Sequence[LogRead], first: Failed | None) -> Iterator[Cause]:
    """The first time that a card's memory ran out; of the rank that failed first, if of that."""
    events = [(one, log) for log in logs for one in log.seen.memory]
    own = [pair for pair in events if first and pair[1] is first.log]
    for memory, log in (own or events)[:1]:
        rank = rank_of(log.name) or memory.rank
        reached = [one.seen.step for one in logs if one.seen.step is not None]
        step = max(reached, default=None) if memory.step is None else memory.step
        values = {**_values(memory), "rank": rank, "step": step}
        yield Cause("memory", {**values, "told": _told(values)}, memory.spot, rank)


def _values(memory: Memory | Broken) -> dict[str, object]:
    return {name: getattr(memory, name) for name in memory.__struct_fields__ if name != "spot"}


def _nan(logs: Sequence[LogRead]) -> Iterator[Cause]:
    """Where numbers first were no numbers: by a check for them, else by the loss."""
    checked = [(one, log) for log in logs for one in log.seen.broken]
    bad = [(series.bad, log) for log in logs for series in _series(log) if series.bad]
    if checked:
        one, log = min(checked, key=lambda pair: -1 if pair[0].step is None else pair[0].step)
        spot, values = one.spot, {**_values(one), "rank": rank_of(log.name)}
    elif bad:
        (point, spot), log = min(bad, key=lambda pair: pair[0][0].step)
        values = {"step": point.step, "rank": rank_of(log.name)}
    else:
        return
    yield Cause("nan", {**values, "told": _told(values)}, spot, str(values["rank"]))


def _series(log: LogRead) -> tuple[Series, Series]:
    return log.seen.train, log.seen.evals


def _hang(still: Hanging) -> Cause:
    ranks = ", ".join(still.ranks)
    time = duration(still.seconds) if still.seconds is not None else "?"
    values: dict[str, object] = {
        "step": "-" if still.step is None else still.step,
        "time": time,
        "ranks": ranks,
    }
    return Cause("hang-ranks" if ranks else "hang", values, None, ranks)


def _rank(first: Failed, several: tuple[str, ...]) -> Cause:
    """The rank that failed first; `several` where the logs do not tell which of these it was."""
    known = f"{first.find.failure.id}: {first.find.failure.cause}" if first.find else ""
    line = cut(first.spot.text.strip(), _LINE)
    values: dict[str, object] = {"rank": first.rank, "line": line, "known": known}
    if several:
        return Cause("ranks", {**values, "ranks": ", ".join(several)}, first.spot, "")
    if first.later:
        return Cause("rank-later", values, first.spot, first.rank)
    return Cause("rank-known" if known else "rank", values, first.spot, first.rank)
