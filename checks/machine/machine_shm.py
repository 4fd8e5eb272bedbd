"""Is /dev/shm large enough for the processes that share their data there?"""

from __future__ import annotations

from checks.machine.finding import APART, Check, Evidence, Finding, UnreadError, known
from checks.machine.here import in_container
from provision.amounts import size
from provision.facts.snapshot import Facts

_FOLDER = "/dev/shm"  # noqa: S108


def _run(facts: Facts) -> Finding:
    needs = facts.stack.container
    if needs is None:
        return APART
    there = known(facts.limits).shm_size
    if there is None:
        raise UnreadError(_FOLDER)
    evidence = [Evidence(f"{_FOLDER} {size(there)}", "statvfs")]
    if there >= needs.least_shm:
        return Finding("ok", evidence=evidence)
    least = needs.least_shm
    values = {"size": size(there), "wanted": size(least), "option": f"{least >> 20}m"}
    if in_container(facts):
        return Finding("warning", "container", values, evidence, source=needs.source)
    command = f"mount -o remount,size={values['option']} {_FOLDER}"
    return Finding("warning", "host", values, evidence, command, needs.source)


CHECK = Check("machine-shm", _run)
