"""`report`: the smoke tests' records, the steps of provision and the machine as one page.

Like the page of `doctor` it needs nothing else, and it says the same in both languages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from checks.doctor import html
from checks.doctor.examine import Report, examine
from checks.doctor.report import bad
from checks.doctor.report import to_json as doctor_json
from checks.doctor.visit import refuse_mixed
from checks.machine.finding import moment
from checks.runs import junit
from checks.runs.drawing import Curve, curve, line_of_time
from checks.runs.history import figures, worse
from checks.runs.record import Run, runs
from checks.runs.telling import worse_lines
from provision.console import show, show_json
from provision.errors import PaddockError
from provision.files import write
from provision.journal import SMOKE, Journal
from provision.site import Site
from provision.words import text

SCHEMA = "paddock/report/1"
_SHOWN = 30  # runs


def report(target: str, page: str, suite: str, *, json: bool) -> int:
    """Write what is known of a target: `page` is the file of the page, `suite` that of the last
    run as a JUnit report; with neither the page gets a name of its own. Returns 0.

    Raises PaddockError `no-runs`, `flags-apart`, `bad-option`, `disk-full`.
    """
    refuse_mixed({"json": json, "html": page, "junit": suite})
    known = list(runs(Site(target)))
    if not known:
        raise PaddockError("no-runs", target=target)
    if suite:
        write("--junit", suite, junit.encode(known[-1]))
    if json:
        made = {"runs": msgspec.to_builtins(known), "doctor": doctor_json(examine(target))}
        show_json({"schema": SCHEMA, "target": target, **made})
    if page or not (suite or json):
        file = page or f"paddock-report-{target}.html"
        write("--html", file, encode(known, examine(target)))
        if file != "-":
            show(text("report.written", file=file, count=len(known)))
    return 0


def encode(known: Sequence[Run], seen: Report) -> bytes:
    """The page of these runs, the oldest first, on this machine."""
    last, site = known[-1], Site(known[-1].target)
    return html.render("runs.html.j2", {
        **html.machine(seen.facts),
        "last": last,
        "when": moment(last.time),
        "worse": list(worse_lines(worse(last, known))),
        "curves": list(_curves(known)),
        "series": list(_series(last)),
        "time": line_of_time(Journal(site.journal).entries(), SMOKE),
        "counts": html.counts(seen),
        "problems": [one.part("what") for one in bad(seen) if one.case != "unsent"],
        "known": [(run, moment(run.time)) for run in reversed(known[-_SHOWN:])],
    })  # fmt: skip


def _curves(known: Sequence[Run]) -> Iterator[Curve]:
    """Each figure of the last run over the runs that have it."""
    for name in figures(known[-1]):
        values = [figures(run)[name] for run in known[-_SHOWN:] if name in figures(run)]
        if drawn := curve(name, values):
            yield drawn


def _series(run: Run) -> Iterator[Curve]:
    """What the levels of a run measured step by step, such as a loss."""
    for level in run.smoke.levels:
        for name, values in level.series.items():
            if drawn := curve(f"{level.level}.{name}", values):
                yield drawn
