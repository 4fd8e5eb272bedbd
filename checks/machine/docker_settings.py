"""Can the container engine read its settings file?

A running engine goes on with the settings it has, so the mistake shows at its next start.
"""

from __future__ import annotations

from checks.machine.finding import APART, Check, Evidence, Finding, known
from provision.facts import container_engine
from provision.facts.snapshot import Facts


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    file = next((one for one in outputs if one.source == container_engine.DAEMON_FILE), None)
    if file is None:
        return APART
    if broken := container_engine.broken_settings(outputs):
        evidence = [Evidence(broken[0], file.source)]
        command = f"python3 -m json.tool {file.source}"
        return Finding("error", "broken", {}, evidence, command, "Docker documentation: dockerd")
    line = " ".join(file.text.split())[:200] or "(empty)"
    return Finding("ok", evidence=[Evidence(line, file.source)])


CHECK = Check("docker-settings", _run, devices=("npu", "gcu"))
