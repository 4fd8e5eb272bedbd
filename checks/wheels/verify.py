"""`verify-wheel`: the audit of wheels, for people and for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from checks.doctor.report import finding_json, grade, problem
from checks.machine.finding import Finding
from checks.wheels import archive, place
from checks.wheels.audit import Audit, audit
from provision.console import show, show_json
from provision.errors import PaddockError
from provision.stream import coloured
from provision.words import text

SCHEMA = "paddock/verify-wheel/1"


def verify(files: Sequence[str], target: str, env: str, *, importing: bool, json: bool) -> int:
    """Examine wheels; returns the exit status: that of the worst finding, as of `doctor`.

    Raises PaddockError `bad-option`, `bad-wheel`, `temporary-full`, `unknown-target`.
    """
    if not files:
        raise PaddockError("bad-option", option="FILE", value="", wanted=text("wanted.wheels"))
    if env and target != "auto":
        raise PaddockError("flags-apart", one="--env", other="--target")
    for name in files:  # before anything is told of one of them
        archive.reached(Path(name)).close()
    made = []
    for name in files:
        path = Path(name)
        rivals = tuple(Path(other) for other in files if other != name)
        where = place.find(path.name, target, env)
        made.append(audit(path, where, importing=importing, rivals=rivals))
        if not json:
            for line in lines(made[-1]):
                show(line)
    if json:
        show_json(to_json(made))
    return grade([finding for one in made for finding in one.findings])


def to_json(audits: Sequence[Audit]) -> dict[str, object]:
    """The audits as a JSON object, schema `paddock/verify-wheel/1`."""
    wheels = [{
        "path": one.path, "name": one.name, "version": one.version, "tags": one.tags,
        "target": one.target, "python": one.python, "paddle": one.paddle,
        "libraries": one.libraries.split(":") if one.libraries else [],
        "status": grade(one.findings), "findings": [finding_json(f) for f in one.findings],
    } for one in audits]  # fmt: skip
    return {"schema": SCHEMA, "status": grade([f for one in audits for f in one.findings]),
            "wheels": wheels}  # fmt: skip


def lines(made: Audit) -> Iterator[str]:
    """One audit for people: what it was held against, what is wrong, and how much holds."""
    paddle = f"paddlepaddle {made.paddle}" if made.paddle else text("wheel.no-paddle")
    vendor = text("wheel.libraries", folders=made.libraries) if made.libraries else ""
    yield text("wheel.against", path=made.path, python=made.python, paddle=paddle) + vendor
    for state in ("error", "warning", "unknown"):
        for one in made.findings:
            if one.state == state:
                yield from problem(one, made.findings, coloured(sys.stdout))
    yield verdict(made.findings)


def verdict(findings: Sequence[Finding]) -> str:
    """How the audit ended, in one line."""
    said = registered(findings)
    return text("wheel.tally", **counts(findings)) + (
        text("wheel.loads", line=said) if said else ""
    )


def counts(findings: Sequence[Finding]) -> dict[str, int]:
    """How many answers are of each state."""
    states = [one.state for one in findings]
    return {state: states.count(state) for state in ("ok", "warning", "error", "unknown")}


def registered(findings: Sequence[Finding]) -> str:
    """What Paddle said when it loaded the plugin; "" where it did not."""
    found = [one for one in findings if one.id == "plugin-loads" and one.state == "ok"]
    return found[0].evidence[0].line if found else ""
