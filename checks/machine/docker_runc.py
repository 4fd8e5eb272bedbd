"""Does runc keep a container's devices when systemd reads its units again?"""

from __future__ import annotations

import re

from checks.machine.finding import APART, Check, Evidence, Finding, UnreadError, known
from provision import versions
from provision.facts import container_engine
from provision.facts.snapshot import Facts

_SOURCE = "opencontainers/runc#3671; Enflame TopsCloud guide: runc 1.1.7 or newer"
_FIXED = "1.1.7"


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    answered = container_engine.info(outputs)
    if not answered:
        return APART
    found = container_engine.runc_version(outputs)
    if found is None:
        raise UnreadError("docker version tells no runc")
    text, output = found
    driver = answered[0].cgroup_driver
    evidence = [Evidence(f"runc {text}, cgroup driver {driver or '?'}", output.source)]
    number = re.match(r"\d+(?:\.\d+){1,3}", text)
    older = versions.compare(number[0], _FIXED) if number else None
    if older is None:
        return Finding("unknown", "version", {"version": text}, evidence, source=_SOURCE)
    if older >= 0 or driver == "cgroupfs":  # then systemd does not keep the containers' units
        return Finding("ok", evidence=evidence)
    return Finding("warning", "old", {"version": text, "wanted": _FIXED}, evidence, source=_SOURCE)


CHECK = Check("docker-runc", _run, needs=("docker-reachable",), devices=("npu", "gcu"))
