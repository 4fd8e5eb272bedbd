"""Does `efsmi` answer, and does PATH lead to it?"""

from __future__ import annotations

import os
from pathlib import PurePosixPath

from checks.finding import Check, Evidence, Finding, UnreadError, known
from provision.facts import enflame
from provision.facts.questions import Output
from provision.facts.snapshot import Facts, Unread

_SOURCE = "TopsRider: efsmi is a part of its data center toolkit"


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    shown = enflame.table(outputs)
    asked = next((one for one in outputs if one.source == "efsmi"), shown[1] if shown else None)
    if asked is None:
        raise UnreadError("efsmi was not asked")
    if shown and shown[0].cards:
        return _answered(facts, shown[1], len(shown[0].cards))
    if asked.problem == "absent":
        return _absent(facts)
    if asked.problem == "silent":
        return Finding("error", "silent", {}, [_last(asked)], "dmesg | tail -50", _SOURCE)
    if asked.problem or asked.status:
        values = {"status": "?" if asked.status is None else str(asked.status)}
        return Finding("error", "fails", values, [_last(asked)], source=_SOURCE)
    if shown:
        return Finding("error", "no-cards", {}, [_last(asked)], source=_SOURCE)
    return Finding("unknown", "layout", {}, [_last(asked)], source=_SOURCE)


def _answered(facts: Facts, output: Output, cards: int) -> Finding:
    """It answers; whether a user finds it too."""
    line = enflame.line_of(output, "Driver Ver") or f"cards: {cards}"
    evidence = [Evidence(line, output.real or output.source)]
    variables = facts.variables if isinstance(facts.variables, dict) else {}
    folder = str(PurePosixPath(output.real).parent)
    path = variables.get("PATH")
    if not path or not output.real.endswith("/efsmi") or folder in path.split(os.pathsep):
        return Finding("ok", evidence=evidence)
    command = f"export PATH=$PATH:{folder}"
    return Finding("warning", "outside", {"folder": folder}, evidence, command, _SOURCE)


def _absent(facts: Facts) -> Finding:
    """In a container the tool may rightly be missing; a host with the driver should have it."""
    evidence = [Evidence("no efsmi", "PATH")]
    if not isinstance(facts.machine, Unread) and facts.machine.container is not None:
        return Finding("absent", "container", {}, evidence)
    return Finding("error", "absent", {}, evidence, source=_SOURCE)


def _last(output: Output) -> Evidence:
    """The last line that it said."""
    lines = [line.strip() for line in output.text.splitlines() if line.strip()]
    return Evidence(lines[-1] if lines else "(nothing printed)", output.real or output.source)


CHECK = Check("gcu-tool", _run, needs=("gcu-module", "gcu-nodes"), devices=("gcu",))
