"""The findings in SARIF 2.1.0, the exchange format of analysis tools."""

from __future__ import annotations

import json
from typing import Final

from checks.doctor.examine import Report
from checks.doctor.report import machine_line
from checks.machine.finding import Evidence, Finding, State
from checks.machine.registry import CHECKS
from provision.stream import printable
from provision.words import language, text

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

# SARIF's kind and level. `open` is its word for "there was not enough to decide".
_KIND: Final[dict[State, tuple[str, str]]] = {
    "ok": ("pass", "none"),
    "error": ("fail", "error"),
    "warning": ("fail", "warning"),
    "unknown": ("open", "none"),
    "absent": ("notApplicable", "none"),
    "follows": ("notApplicable", "none"),
    "apart": ("notApplicable", "none"),
}


def encode(report: Report) -> bytes:
    """The report as a SARIF log with one run, in the user's language."""
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(report)]}
    return json.dumps(log, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n"


def _run(report: Report) -> dict[str, object]:
    driver = {"name": "paddock", "language": language(), "rules": [_rule(c.id) for c in CHECKS]}
    return {
        "tool": {"driver": driver},
        "language": language(),
        "properties": {"target": report.facts.target, "machine": machine_line(report.facts)},
        "results": [_result(finding) for finding in report.findings],
    }


def _rule(name: str) -> dict[str, object]:
    title, looks = (text(f"check.{name}.{part}") for part in ("title", "looks"))
    return {"id": name, "shortDescription": {"text": title}, "fullDescription": {"text": looks}}


def _result(finding: Finding) -> dict[str, object]:
    kind, level = _KIND[finding.state]
    return {
        "ruleId": finding.id,
        "kind": kind,
        "level": level,
        "message": {"text": printable(_message(finding))},
        "locations": [_location(evidence) for evidence in finding.evidence],
    }


def _message(finding: Finding) -> str:
    """What is found, why, and what to do; for a good finding only that it is one."""
    parts = [finding.part(name) for name in ("what", "cause", "fix")]
    said = " ".join(filter(None, (*parts, finding.command)))
    return said or text(f"verdict.{finding.state}", id=finding.follows)


def _location(evidence: Evidence) -> dict[str, object]:
    """Where the evidence came from. Not a place in a source file, so it is a logical one."""
    where = [{"fullyQualifiedName": printable(evidence.where)}]
    return {"logicalLocations": where, "message": {"text": printable(evidence.line)}}
