"""Shows an examination: lines for people, JSON for programs, a status for scripts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from checks.doctor.report_origin import files, origin
from checks.machine import here, told_cards
from checks.machine.accelerator_known import summary
from checks.machine.finding import Finding
from provision.amounts import size
from provision.columns import width
from provision.errors import ERRORS, SOUND, UNKNOWN, WARNINGS
from provision.facts.snapshot import Facts, Unread
from provision.stream import coloured, paint
from provision.words import text

if TYPE_CHECKING:
    from checks.doctor.examine import Report

SCHEMA = "paddock/doctor/1"

_ORDER = ("error", "warning", "unknown", "absent")  # worst first
_SIGN = {"error": "x", "warning": "!", "unknown": "?", "absent": "-"}
_COLOUR = {"error": 31, "warning": 33, "unknown": 35, "absent": 36}  # repeats what the sign says


def status(report: Report, strict: bool = False) -> int:
    """The exit status: 0 healthy, 10 warnings, 11 errors, 12 where something is unknown only.

    `strict`: what is unknown counts as an error.
    """
    return grade(report.findings, strict)


def grade(findings: Sequence[Finding], strict: bool = False) -> int:
    """The exit status of some findings."""
    states = {finding.state for finding in findings}
    if strict and "unknown" in states:
        return ERRORS
    ranks = (("error", ERRORS), ("warning", WARNINGS), ("unknown", UNKNOWN))
    return next((number for state, number in ranks if state in states), SOUND)


def to_json(report: Report, strict: bool = False) -> dict[str, object]:
    """The examination as a JSON object of plain values, schema `paddock/doctor/1`."""
    return {
        "schema": SCHEMA,
        "status": status(report, strict),
        "target": report.facts.target,
        "machine": machine_line(report.facts),
        "taken": report.taken,
        "sent": files(report),
        "seconds": round(report.seconds, 3),
        "findings": [finding_json(finding) for finding in report.findings],
        "facts": msgspec.to_builtins(report.facts),
    }


def finding_json(finding: Finding) -> dict[str, object]:
    """One finding with its sentences."""
    sentences = {name: finding.part(name) for name in ("what", "cause", "fix")}
    title = text(f"check.{finding.id}.title")
    return {**msgspec.to_builtins(finding), "title": title, **sentences}


def lines(report: Report, colour: bool | None = None) -> list[str]:
    """The examination for people. `colour` None: where standard output may have it."""
    colour = coloured(sys.stdout) if colour is None else colour
    problems = [one for one in bad(report) if one.case != "unsent"]
    shown = [line for one in problems for line in problem(one, report.findings, colour)]
    return [
        *origin(report),
        machine_line(report.facts) or text("doctor.unknown-machine"),
        *([""] if shown else []),
        *shown,
        *([""] if shown else []),
        _tally(report),
        text("doctor.next", command=next_line(report)),
    ]


def bad(report: Report) -> list[Finding]:
    """The findings that are not good, the worst state first."""
    return [one for state in _ORDER for one in report.findings if one.state == state]


def machine_line(facts: Facts) -> str:
    """What machine this is, in one line."""
    return text("plan.comma").join(part for part in _machine_parts(facts) if part)


def _machine_parts(facts: Facts) -> Iterator[str]:
    told = list(told_cards.summary(here.outputs(facts)))
    if on_bus := here.cards(facts):
        yield summary(on_bus)
    elif told:  # nobody looked at the bus, or a sandbox hides it
        yield from told
    elif isinstance(facts.accelerators, list):
        yield text("doctor.no-accelerator")
    machine = facts.machine
    if not isinstance(machine, Unread):
        yield f"{machine.name or machine.system} {machine.arch}"
        yield text("doctor.container", kind=machine.container) if machine.container else ""
        yield text("doctor.cpus", count=machine.cpus) if machine.cpus else ""
        yield size(machine.memory) if machine.memory else ""
    environment = facts.environment
    if environment is not None and not isinstance(environment, Unread):
        paddle = environment.packages.get("paddlepaddle")
        yield f"paddlepaddle {paddle}" if paddle else ""


def problem(finding: Finding, findings: Sequence[Finding], colour: bool) -> Iterator[str]:
    """The lines of one finding that is not good."""
    what, mark = f"{_SIGN[finding.state]}  {finding.part('what')}", f"  [{finding.id}]"
    yield paint(_COLOUR[finding.state], what, mark) if colour else what + mark
    for evidence in finding.evidence:
        yield _row("seen", f"{evidence.line}  ({evidence.where})")
    consequences = ""
    follow = sum(one.follows == finding.id for one in findings)
    if follow and finding.state == "error":  # what stands behind something absent is no finding
        consequences = text("doctor.follow", count=follow)
    yield from _rows("so", " ".join(filter(None, (finding.part("cause"), consequences))))
    yield from _todo(finding)
    yield from _rows("known", finding.source)


def _todo(finding: Finding) -> Iterator[str]:
    """What to do: the sentence, and below it the command alone, as one would copy it."""
    sentence = advice(finding)
    yield from _rows("fix", sentence or finding.command)
    if sentence and finding.command:
        label = _row("fix", "")
        yield " " * width(label) + finding.command


def advice(finding: Finding) -> str:
    """What to do as a sentence, which announces the command where there is one."""
    fix = finding.part("fix")
    return fix.strip() if finding.command else fix.rstrip(":：")


def _rows(name: str, value: str) -> Iterator[str]:
    """A row, unless it would be empty."""
    if value:
        yield _row(name, value)


def _row(name: str, value: str) -> str:
    return f"     {text(f'doctor.{name}')}  {value}"


def _tally(report: Report) -> str:
    """How many checks hold, and how many could not be asked."""
    states = [finding.state for finding in report.findings]
    holding = text("doctor.hold", count=states.count("ok"))
    follows = states.count("follows")
    unsent = sum(finding.case == "unsent" for finding in report.findings)
    dependent = text("doctor.not-asked", count=follows) if follows else ""
    return holding + dependent + (text("doctor.unsent", count=unsent) if unsent else "")


def next_line(report: Report) -> str:
    """What to do next: what the worst finding asks for; the smoke tests where there is none."""
    facts, problems = report.facts, [one for one in bad(report) if one.case != "unsent"]
    if facts.sent and not any(one.state in ("error", "warning") for one in problems):
        return text("doctor.send-more")
    if not problems:
        return f"paddock smoke --target {facts.target}"
    return problems[0].command or advice(problems[0]) or problems[0].part("what")
