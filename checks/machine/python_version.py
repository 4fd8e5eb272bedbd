"""Is there a Python that the stack can be installed for?"""

from __future__ import annotations

from checks.machine.finding import Check, Evidence, Finding, State, known, ok
from provision.facts.snapshot import Facts


def _run(facts: Facts) -> Finding:
    python = known(facts.python)
    if python.fitting:
        return ok(f"{python.fitting} is within {python.wanted}", "the running one, then PATH")
    evidence = [Evidence(line, "PATH") for line in python.others]
    values = {"wanted": python.wanted, "target": facts.target}
    # An environment that exists keeps its own interpreter and does not need another.
    state: State = "error" if facts.environment is None else "warning"
    return Finding(state, "none", values, evidence, source=f"images/{facts.target}/stack.toml")


CHECK = Check("python-version", _run)
