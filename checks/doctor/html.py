"""An examination as one page that needs nothing else: no network, no script, no font.

It is HTML that is XML too, in the user's language, and the same bytes for the same facts.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from checks.doctor import html_cards, html_versions
from checks.doctor.examine import Report
from checks.doctor.html_picture import picture
from checks.doctor.html_row import row
from checks.doctor.report import advice, bad, machine_line, next_line
from checks.doctor.report_origin import unused
from checks.machine.finding import Finding, moment
from provision.facts.snapshot import Facts
from provision.paths import TEMPLATES
from provision.stream import printable
from provision.words import language, text

if TYPE_CHECKING:
    import jinja2


class Problem(msgspec.Struct, frozen=True):
    """A finding that is not good, with the sentences of it and what follows from it."""

    finding: Finding
    title: str
    what: str
    cause: str
    fix: str
    consequences: list[tuple[str, Finding]]


def encode(report: Report) -> bytes:
    """The page."""
    return render("report.html.j2", _values(report))


def render(template: str, values: Mapping[str, object]) -> bytes:
    """A page of these values, in the user's language. What has no spelling in UTF-8 becomes `?`."""
    named = {"language": "zh-CN" if language() == "zh" else "en", **values}
    return _environment().get_template(template).render(named).encode("utf-8", "replace")


@functools.cache
def _environment() -> jinja2.Environment:
    """Templates of pages: every value is escaped for HTML, and what no line can show replaced."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES, encoding="utf-8"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["say"] = text
    return environment


def _shown(value: object) -> object:
    """A value for the page; what is undefined has to raise its own error."""
    import jinja2

    if isinstance(value, jinja2.Undefined) or hasattr(value, "__html__"):
        return value
    return "\n".join(map(printable, str(value).split("\n")))


def _values(report: Report) -> dict[str, object]:
    """What the template shows."""
    problems = [_problem(one, report) for one in bad(report) if one.case != "unsent"]
    return {
        **machine(report.facts),
        "taken": None if report.taken is None else moment(report.taken),
        "sent": report.sent is not None,
        "unused": list(unused(report)),
        "problems": problems,
        "counts": counts(report),
        "next": next_line(report),
        "checks": [(one, text(f"check.{one.id}.title")) for one in report.findings],
        "details": list(_details(report.facts)),
    }


def machine(facts: Facts) -> dict[str, object]:
    """What pages show of a machine: its name, its cards, and its versions against the pins."""
    cards = html_cards.cards(facts)
    return {
        "machine": machine_line(facts),
        "facts": facts,
        "cards": cards,
        "rows": list(map(row, cards)),
        "picture": picture(html_cards.numa(cards)) if cards else None,
        "release": html_versions.release(facts),
        "versions": html_versions.rows(facts),
    }


def _problem(finding: Finding, report: Report) -> Problem:
    what, cause = finding.part("what"), finding.part("cause")
    behind = [one for one in report.findings if one.follows == finding.id]
    consequences = [(text(f"check.{one.id}.title"), one) for one in behind]
    return Problem(
        finding, text(f"check.{finding.id}.title"), what, cause, advice(finding), consequences
    )


def counts(report: Report) -> dict[str, int]:
    """How many findings there are of each state; what was not sent counts on its own."""
    states = ["unsent" if one.case == "unsent" else one.state for one in report.findings]
    order = ("error", "warning", "unknown", "absent", "ok", "follows", "unsent", "apart")
    return {state: states.count(state) for state in order if state in states}


def _details(facts: Facts) -> Iterator[tuple[str, str]]:
    """Each fact by its name, as JSON."""
    for field in msgspec.structs.fields(Facts):
        if field.name not in ("target", "device", "sent"):
            value = msgspec.to_builtins(getattr(facts, field.name))
            yield field.name, json.dumps(value, ensure_ascii=False, indent=1)
