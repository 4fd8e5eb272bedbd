"""`history` as a person meets it: the runs of a target, or two of them beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from checks.machine.finding import moment
from checks.runs.history import Compared, Worse, compare, worse
from checks.runs.record import Run, keep, runs, unread
from checks.smoke.report import SmokeReport
from provision.columns import left
from provision.console import show, show_json
from provision.errors import PaddockError, unknown_name
from provision.site import Site
from provision.stack import Stack
from provision.words import text

SCHEMA = "paddock/history/1"
COMPARED = "paddock/history-compare/1"
_TWO = 2
_TOLD = 5  # runs that an error names
_DIGITS = 6


def history(target: str, names: list[str], *, json: bool) -> int:
    """List the runs of a target, or compare the two that are named. Returns 0.

    Raises PaddockError `no-runs`, `unknown-run`, `bad-option`.
    """
    site = Site(target)
    known, left_out = list(runs(site)), unread(site)
    note = text("history.unread", count=left_out, folder=site.runs)
    if not known:
        raise PaddockError("no-runs", (note,) if left_out else (), target=target)
    if names:
        made = _compared(known, names)
        if json:
            show_json({"schema": COMPARED, **msgspec.to_builtins(made)})
        else:
            for line in compared_lines(made):
                show(line)
        return 0
    if json:
        rows = msgspec.to_builtins(known)
        show_json({"schema": SCHEMA, "target": target, "unread": left_out, "runs": rows})
        return 0
    for line in _listed(target, known, note if left_out else ""):
        show(line)
    return 0


def _listed(target: str, known: list[Run], note: str) -> Iterator[str]:
    """The runs, what could not be read, and how two of them are compared."""
    yield text("history.title", target=target, count=len(known))
    yield from map(run_line, known)
    if note:
        yield note
    if len(known) >= _TWO:
        yield text("history.next", a=known[0].id, b=known[-1].id)


def _compared(known: list[Run], names: list[str]) -> Compared:
    """The two runs that are named, each by its id or by a beginning that only one has."""
    if len(names) != _TWO:
        raise PaddockError("bad-option", option="--compare", value=" ".join(names),
                           wanted=text("wanted.two-runs"))  # fmt: skip
    first, second = (_named(known, name) for name in names)
    return compare(first, second, known)


def _named(known: list[Run], name: str) -> Run:
    found = [run for run in known if run.id.startswith(name)]
    if len(found) != 1:
        raise unknown_name("unknown-run", name, [run.id for run in found or known][-_TOLD:])
    return found[0]


def run_line(run: Run) -> str:
    """A run in one line: when, on what, which levels, and the verdict."""
    levels = " ".join(f"{one.level}{'' if one.passed else ' x'}" for one in run.smoke.levels)
    verdict = left(text("smoke.passed" if run.smoke.passed else "smoke.failed"), 7)
    where = left(text("history.stand-in") if run.stand_in else run.smoke.device, 10)
    return f"  {run.id}  {moment(run.time)}  {run.release:<8} {where} {verdict} {levels}"


def compared_lines(made: Compared) -> Iterator[str]:
    """What differs, and what got worse, for people."""
    for name, run in (("A", made.a), ("B", made.b)):
        yield f"{name}{run_line(run)[1:]}"
    for key, rows in (("history.versions", made.versions), ("history.verdicts", made.verdicts)):
        if rows:
            yield text(key)
        for name, a, b in rows:
            yield f"    {name:<36} {a}  ->  {b}"
    if made.figures:
        yield text("history.figures")
    for one in made.figures:
        yield f"    {one.name:<36} {_number(one.a):>12} {_number(one.b):>12}{_share(one.a, one.b)}"
    yield from worse_lines(made.worse)
    if not (made.versions or made.verdicts):
        yield text("history.same")


def worse_lines(found: list[Worse]) -> Iterator[str]:
    """One line for each figure that is worse than in the runs before."""
    for one in found:
        yield text(
            "history.worse", name=one.name, value=_number(one.value), median=_number(one.median),
            runs=one.runs,
        )  # fmt: skip


def note(stack: Stack, folder: Path, report: SmokeReport) -> Iterator[str]:
    """Keep the record of a run; lines for what could not be kept, and for what got worse."""
    run, lost = keep(stack, folder, report)
    if lost:
        yield lost
    yield from worse_lines(worse(run, list(runs(Site(run.target)))))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.{_DIGITS}g}"


def _share(a: float | None, b: float | None) -> str:
    """How much the second differs from the first."""
    return f"  {100 * (b - a) / abs(a):+.1f} %" if a and b is not None else ""
