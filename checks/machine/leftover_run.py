"""Did the last run end well, or is one going on?"""

from __future__ import annotations

from checks.machine.finding import APART, Check, Evidence, Finding, known, mended, ok, provision
from provision.facts.leftover import Step
from provision.facts.snapshot import Facts


def _run(facts: Facts) -> Finding:
    if facts.foreign:
        return APART
    left = known(facts.leftover)
    if left.running:
        evidence = [Evidence("the lock is held", left.journal)]
        return Finding("unknown", "running", {"target": facts.target}, evidence)
    if not left.steps:
        return ok("no unfinished step", left.journal)
    first = left.steps[0]
    removing = [step for step in left.steps if step.event == "removing"]
    if removing:  # nothing is put back, or taken away, for whoever has not said which
        evidence = [_evidence(step, left.journal) for step in left.steps]
        values = {"step": ", ".join(step.name for step in removing), "target": facts.target}
        return Finding("error", "removing", values, evidence, provision(facts.target, "--undo"))
    case = "failed" if first.event == "failed" else "interrupted"
    evidence = [_evidence(step, left.journal) for step in left.steps]
    values = {"step": first.name, "target": facts.target}
    return mended(Finding("error", case, values, evidence), facts)


def _evidence(step: Step, journal: str) -> Evidence:
    return Evidence(f"{step.name}: {step.event}", step.log or journal)


CHECK = Check("leftover-run", _run)
