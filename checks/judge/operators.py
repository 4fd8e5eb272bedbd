"""Judges what a log says of torch_npu's operators and of the graph engine's own fusion."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from checks.judge.names import known, names
from checks.judge.reading import LogRead
from checks.judge.verdict import Reason, Verdict, failed, holds, unknown

_LIST = 3  # names of torch_npu from which on a text is taken for a list of them
# As CANN's graph engine makes these names (CreateAscbackendName): the sort of fusion, which a
# second round of it leaves out, a number, and the sorts of the operators within.
_FUSED = re.compile(r"autofuse_(?:([a-z]+(?:_[a-z]+)*)_)?\d+((?:_[A-Za-z]\w*)?)")
_AGAIN = "again"  # fused of fused ones


def tells(log: LogRead) -> bool:
    """Whether a log says anything of these."""
    seen = log.seen
    several = len(seen.listed) >= _LIST
    return bool(seen.present or seen.absent or several or seen.autofused or seen.graph_engine)


def judge(logs: list[LogRead], target: str) -> Verdict:
    """The verdict: names that were asked for, a list of names, fused operators."""
    reasons = [reason for log in logs for part in (_asked, _list, _fused) for reason in part(log)]
    fused = {name for log in logs for name in log.seen.autofused}
    kinds = {f"autofused_{kind}": count for kind, count in sorted(_kinds(fused).items())}
    present = len({name for log in logs for name in log.seen.present | log.seen.listed})
    return Verdict("ops", target, reasons, {"names": present, "autofused": len(fused), **kinds})


def _asked(log: LogRead) -> Iterator[Reason]:
    """Names of which the log says whether they are there."""
    for name, spot in sorted(log.seen.absent.items()):
        row = known(name)
        if row is None:
            yield failed("name-absent", spot, name=name)
        elif row.instead:
            yield failed("name-wrong", spot, name=name, instead=row.instead)
        else:
            yield failed("name-unregistered", spot, name=name)
    invented = sorted(name for name in log.seen.present if (row := known(name)) and row.instead)
    for name in invented:
        yield unknown("name-invented", name=name)
    if real := sorted(log.seen.present - set(invented)):
        yield holds("names-there", names=", ".join(real))


def _list(log: LogRead) -> Iterator[Reason]:
    """A whole list: which of the known names are not in it."""
    if len(log.seen.listed) < _LIST:
        return
    missing = sorted(row.name for row in names().values()
                     if row.returns and row.name not in log.seen.listed)  # fmt: skip
    if missing:
        yield failed("names-missing", names=", ".join(missing))
    else:
        yield holds("names-listed", count=len(log.seen.listed))


def _fused(log: LogRead) -> Iterator[Reason]:
    """What the graph engine fused by itself, by the names of the operators that it made."""
    if log.seen.autofused:
        name, spot = next(iter(log.seen.autofused.items()))
        kinds = ", ".join(f"{kind} {n}" for kind, n in _kinds(log.seen.autofused).most_common())
        adds = sum("Add" in _within(one) for one in log.seen.autofused)
        count = len(log.seen.autofused)
        yield holds("autofused", spot, count=count, kinds=kinds, adds=adds, name=name)
    elif log.seen.graph_engine:
        yield unknown("autofused-none", log.seen.graph_engine)


def _kinds(fused: Iterable[str]) -> Counter[str]:
    """How many fused operators there are of each sort of fusion."""
    found = (_FUSED.match(name) for name in fused)
    return Counter((one[1] or _AGAIN) if one else "other" for one in found)


def _within(name: str) -> list[str]:
    """The sorts of the operators that one was made of; a long name is cut by the engine."""
    found = _FUSED.match(name)
    return found[2].split("_") if found else []
