"""Is there memory enough for the smoke tests?"""

from __future__ import annotations

from checks.machine.finding import Check, Evidence, Finding, known, ok
from provision.amounts import size
from provision.facts.snapshot import Facts

_WANTED = 5 << 29  # bytes, 2.5 GiB: the model level's probe peaks at 1.99 GB, the system needs some
_SOURCE = "measured: model level of the smoke tests, 1.99 GB resident at its peak"


def _run(facts: Facts) -> Finding:
    machine = known(facts.machine)
    if machine.memory is None or machine.memory_available is None:
        evidence = Evidence("no MemTotal or no MemAvailable", "/proc/meminfo")
        return Finding("unknown", "unreadable", evidence=[evidence])
    limit = machine.memory_limit or machine.memory
    usable = min(machine.memory_available, limit)
    line = f"{size(usable)} usable of {size(machine.memory)}"
    if machine.memory_limit:
        line += f", limit {size(machine.memory_limit)}"
    if usable >= _WANTED:
        return ok(line, "/proc/meminfo, cgroup")
    case = "limit" if machine.memory_limit and limit < _WANTED else "little"
    values = {"usable": size(usable), "limit": size(limit), "wanted": size(_WANTED)}
    evidence = Evidence(line, "/proc/meminfo, cgroup")
    return Finding("warning", case, values, [evidence], source=_SOURCE)


CHECK = Check("machine-memory", _run)
