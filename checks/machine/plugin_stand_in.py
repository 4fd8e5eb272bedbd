"""Does a stand-in in host memory serve the device, so that no card computes?"""

from __future__ import annotations

from checks.machine.finding import Check, Evidence, Finding, ok, present
from provision.facts.snapshot import Facts

_SOURCE = "the loaded library's own function loopback_device_type"


def _run(facts: Facts) -> Finding:
    plugin = present(facts.plugin)
    if facts.device not in plugin.host_memory:
        return ok(plugin.line, plugin.where)
    evidence = [Evidence(f"{facts.device}: host memory", plugin.where)]
    return Finding("warning", "memory", {"device": facts.device}, evidence, source=_SOURCE)


CHECK = Check("plugin-stand-in", _run, needs=("plugin-loads",), devices=("npu", "gcu"))
