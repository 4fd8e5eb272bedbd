"""May this process open as many files, and start as many threads, as Paddle needs?"""

from __future__ import annotations

from checks.machine.finding import Check, Evidence, Finding, UnreadError, known
from provision.facts.limits import UNLIMITED, Limit
from provision.facts.snapshot import Facts

_WHERE = "/proc/self/limits"
_SOURCE = "systemd and the kernel give 1024 open files by default; a limit below it was set here"
_LEAST = 1024


def _run(facts: Facts) -> Finding:
    limits = known(facts.limits)
    rows = {"files": ("open files", limits.open_files), "threads": ("processes", limits.processes)}
    if all(limit.soft is None for _, limit in rows.values()):
        raise UnreadError(_WHERE)
    for case, (name, limit) in rows.items():
        if limit.soft is not None and limit.soft != UNLIMITED and limit.soft < _LEAST:
            values = {"limit": str(limit.soft), "wanted": str(_LEAST)}
            evidence = [Evidence(_line(name, limit), _WHERE)]
            option = "n" if case == "files" else "u"
            enough = limit.hard == UNLIMITED or (limit.hard or 0) >= _LEAST
            command = f"ulimit -{option} {_LEAST}" if enough else ""
            return Finding("warning", case, values, evidence, command, _SOURCE)
    return Finding("ok", evidence=[Evidence(_line(*row), _WHERE) for row in rows.values()])


def _line(name: str, limit: Limit) -> str:
    soft, hard = ("unlimited" if one == UNLIMITED else str(one) for one in (limit.soft, limit.hard))
    return f"Max {name} {soft} {hard}"


CHECK = Check("machine-limits", _run)
