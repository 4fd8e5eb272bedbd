"""What the checks of the vendors' tools share: one that answers, and whether a user finds it."""

from __future__ import annotations

import os
from pathlib import PurePosixPath

from checks.machine.finding import Evidence, Finding
from provision.facts.questions import Output
from provision.facts.snapshot import Facts


def answered(facts: Facts, name: str, line: str, output: Output, source: str) -> Finding:
    """The finding about a tool that answers with this line: good where PATH leads to it."""
    evidence = [Evidence(line, output.real or output.source)]
    variables = facts.variables if isinstance(facts.variables, dict) else {}
    program, path = PurePosixPath(output.real), variables.get("PATH")
    folder = str(program.parent)
    if not path or program.name != name or folder in path.split(os.pathsep):
        return Finding("ok", evidence=evidence)
    command = f"export PATH=$PATH:{folder}"
    return Finding("warning", "outside", {"folder": folder}, evidence, command, source)
