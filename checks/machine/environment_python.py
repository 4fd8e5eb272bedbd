"""Is the target's environment there, and does its interpreter answer?"""

from __future__ import annotations

from checks.machine.finding import (
    Check,
    Evidence,
    Finding,
    UnreadError,
    known,
    made_anew,
    ok,
    provision,
)
from provision.facts.snapshot import Facts


def _run(facts: Facts) -> Finding:
    environment = known(facts.environment)
    if environment is None:
        values = {"target": facts.target}
        return Finding("absent", "none", values, command=provision(facts.target))
    if environment.version is None and not environment.problem:
        raise UnreadError("python --version")
    if environment.version is None:
        evidence = [Evidence(environment.problem, environment.python)]
        if facts.foreign:
            return Finding("error", "dead-other", {"python": environment.python}, evidence)
        values = {"python": environment.python}
        return made_anew(Finding("error", "dead", values, evidence), facts)
    line = f"Python {environment.version}, {len(environment.packages)} packages"
    return ok(line, environment.python)


CHECK = Check("environment-python", _run, needs=("leftover-run",))
