"""Do the variables that choose among the cards name cards that are there?"""

from __future__ import annotations

from checks.machine.finding import Check, Evidence, Finding, State, known
from provision.facts import visible
from provision.facts.snapshot import Facts, Unread
from provision.facts.visible import Choice, Variable


def _run(facts: Facts) -> Finding:
    given = known(facts.variables)
    rows = [row for row in visible.variables() if row.device == facts.device and row.name in given]
    rows = [row for row in rows if row.where == "process" or _obeyed(facts)]
    if not rows:
        return Finding("ok", evidence=[Evidence("none set", "variables")])
    lines = [Evidence(f"{row.name}={given[row.name]}", "variable") for row in rows]
    for row in rows:
        there = _numbers(facts, row)
        if row.where == "container" and there == [] and visible.wants(row, given[row.name]):
            values = {"name": row.name, "nodes": row.nodes}
            evidence = [*lines, Evidence(f"no {row.nodes}", "/dev")]
            return Finding("error", "inactive", values, evidence, source=row.source)
        choice = visible.choose(row, given[row.name], there)
        if choice.problem:
            return _bad(row, given[row.name], choice, there)
    return Finding("ok", evidence=lines)


def _obeyed(facts: Facts) -> bool:
    """Whether a variable for the container runtime has had its effect here."""
    machine = known(facts.machine)
    virtual = "VIRTUAL" in known(facts.variables).get("ASCEND_RUNTIME_OPTIONS", "")
    return machine.container is not None and not virtual


def _numbers(facts: Facts, row: Variable) -> list[int] | None:
    """The numbers of the cards' nodes; None where that is not known.

    Without a node it is not known to a process what its variable leads to (shares of cards).
    """
    if isinstance(facts.nodes, Unread):
        return None
    there = visible.numbers(facts.nodes, row.nodes)
    return there if there or row.where == "container" else None


def _bad(row: Variable, value: str, choice: Choice, there: list[int] | None) -> Finding:
    """A value that is not as it should be."""
    left = ",".join(map(str, choice.ids))
    values = {"name": row.name, "value": value, "bad": choice.bad.strip() or repr(choice.bad),
              "left": left or "-", "count": "?" if there is None else str(len(there))}  # fmt: skip
    evidence = [Evidence(f"{row.name}={value}", "variable")]
    if there is not None:
        pattern = row.nodes.removesuffix("*")
        evidence.append(Evidence(" ".join(f"{pattern}{one}" for one in there[:16]), "/dev"))
    state: State = "warning" if choice.problem in ("twice", "order") else "error"
    command = f"unset {row.name}" if row.where == "process" else ""
    return Finding(state, choice.problem, values, evidence, command, row.source)


CHECK = Check("devices-visible", _run, devices=("npu", "gcu"))
