"""Is there memory enough for the smoke tests?"""

from __future__ import annotations

from checks.finding import Check, Evidence, Finding, gib, known, ok
from provision.facts.snapshot import Facts

_WANTED = 2 << 30  # bytes; the model level was measured at 1.3 to 1.5 GiB
_SOURCE = "measured: model level of the smoke tests, 1.5 GiB resident"


def _run(facts: Facts) -> Finding:
    machine = known(facts.machine)
    if machine.memory is None or machine.memory_available is None:
        evidence = Evidence("no MemTotal or no MemAvailable", "/proc/meminfo")
        return Finding("unknown", "unreadable", evidence=[evidence])
    limit = machine.memory_limit or machine.memory
    usable = min(machine.memory_available, limit)
    line = f"{gib(usable)} usable of {gib(machine.memory)}"
    if machine.memory_limit:
        line += f", limit {gib(machine.memory_limit)}"
    if usable >= _WANTED:
        return ok(line, "/proc/meminfo, cgroup")
    case = "limit" if limit < _WANTED else "little"
    values = {"usable": gib(usable), "wanted": gib(_WANTED)}
    evidence = Evidence(line, "/proc/meminfo, cgroup")
    return Finding("warning", case, values, [evidence], source=_SOURCE)


CHECK = Check("machine-memory", _run)
