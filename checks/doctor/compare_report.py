"""Shows a comparison: lines for people, JSON for programs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from checks.doctor.compare import Comparison
from checks.doctor.compare_values import LEFT_OUT, MOVING, Difference, is_table
from checks.doctor.report import machine_line
from checks.machine.finding import Finding, moment
from provision.words import text

SCHEMA = "paddock/compare/1"
_MOST = 8  # differences of one fact, and items of one list, that a person wants to read


def to_json(made: Comparison) -> dict[str, object]:
    """The comparison as a JSON object of plain values, schema `paddock/compare/1`."""
    machines = {
        side: {"file": file, "time": one.time, "target": one.facts.target,
               "machine": machine_line(one.facts)}
        for side, file, one in zip("ab", made.files, made.saved, strict=True)
    }  # fmt: skip
    checks = [
        {"id": a.id, "title": text(f"check.{a.id}.title"), "a": _verdict(a), "b": _verdict(b)}
        for a, b in made.checks
    ]
    facts = [{"path": path, "a": a, "b": b} for path, a, b in made.facts]
    rule = {"left_out": LEFT_OUT, "same_below_tenfold": MOVING}
    result = {"schema": SCHEMA, "status": made.status, **machines, "checks": checks}
    return {**result, "facts": facts, "not_sent": made.unsent, "rule": rule}


def _verdict(finding: Finding) -> dict[str, str]:
    fields = {name: str(getattr(finding, name)) for name in ("state", "case", "follows")}
    return {**fields, "what": finding.part("what")}


def lines(made: Comparison) -> Iterator[str]:
    """The comparison for people."""
    for side, file, one in zip("AB", made.files, made.saved, strict=True):
        yield f"{side}  {file}: {machine_line(one.facts)}, {moment(one.time)}"
    if made.checks:
        yield from ("", text("compare.checks"))
    for a, b in made.checks:
        yield from _rows(f"{a.id}: {text(f'check.{a.id}.title')}", _said(a), _said(b))
    if made.facts:
        yield from ("", text("compare.facts"))
    for _, group in itertools.groupby(made.facts, _part):
        yield from _differing(list(group))
    if made.unsent:
        yield from ("", text("compare.unsent", names=", ".join(made.unsent)))
    yield from ("", text("compare.rule" if made.status else "compare.same"))


def _differing(group: list[Difference]) -> Iterator[str]:
    """The differences of one part of the facts; of many only the first ones."""
    for path, left, right in group[:_MOST]:
        yield from _rows(path, _shown(left), _shown(right))
    if more := group[_MOST:]:
        yield f"  {text('compare.more', where=_part(group[0]), count=len(more))}"


def _part(one: Difference) -> str:
    """The part of the facts that a path leads to, such as `environment.packages`."""
    return ".".join(one[0].split(".")[:2])


def _rows(what: str, a: str, b: str) -> Iterator[str]:
    yield from (f"  {what}", f"     A  {a}", f"     B  {b}")


def _said(finding: Finding) -> str:
    """A verdict in a few words."""
    state = text(f"verdict.{finding.state}", id=finding.follows)
    what = finding.part("what")
    return text("compare.verdict", state=state, what=what) if what else state


def _shown(value: Any) -> str:
    """A value on one line; a whole table only as being there."""
    if isinstance(value, dict):
        return text("compare.unread", **value) if not is_table(value) else text("compare.there")
    if isinstance(value, list):
        more = ["..."] if len(value) > _MOST else []
        return ", ".join([*map(str, value[:_MOST]), *more]) or "-"
    return "-" if value is None or value == "" else str(value)
