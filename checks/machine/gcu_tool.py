"""Does `efsmi` answer, and does PATH lead to it?"""

from __future__ import annotations

from checks.machine import here
from checks.machine.finding import Check, Evidence, Finding, UnreadError, known
from checks.machine.lines import last, line_of
from checks.machine.vendor_tool import answered
from provision.facts import enflame
from provision.facts.snapshot import Facts

_SOURCE = "TopsRider: efsmi is a part of its data center toolkit"


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    shown = enflame.table(outputs)
    asked = next((one for one in outputs if one.source == "efsmi"), shown[1] if shown else None)
    if asked is None:
        raise UnreadError("efsmi was not asked")
    if shown and shown[0].cards:
        line = line_of(shown[1], "Driver Ver") or f"cards: {len(shown[0].cards)}"
        return answered(facts, "efsmi", line, shown[1], _SOURCE)
    if asked.problem == "absent":
        return _absent(facts)
    if asked.problem == "silent":
        return Finding("error", "silent", {}, [last(asked)], "dmesg | tail -50", _SOURCE)
    if asked.problem or asked.status:
        values = {"status": "?" if asked.status is None else str(asked.status)}
        return Finding("error", "fails", values, [last(asked)], source=_SOURCE)
    if shown:
        return Finding("error", "no-cards", {}, [last(asked)], source=_SOURCE)
    return Finding("unknown", "layout", {}, [last(asked)], source=_SOURCE)


def _absent(facts: Facts) -> Finding:
    """In a container the tool may rightly be missing; a host with the driver should have it."""
    evidence = [Evidence("no efsmi", "PATH")]
    if here.in_container(facts):
        return Finding("absent", "container", {}, evidence)
    return Finding("error", "absent", {}, evidence, source=_SOURCE)


CHECK = Check("gcu-tool", _run, needs=("gcu-module", "gcu-nodes"), devices=("gcu",))
