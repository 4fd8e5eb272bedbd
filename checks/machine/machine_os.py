"""Is this a system for which Paddle publishes wheels?"""

from __future__ import annotations

from checks.machine.finding import Check, Evidence, Finding, State, known, ok
from provision.facts.machine import Machine
from provision.facts.snapshot import Facts

# PyPI, paddlepaddle 3.x: manylinux wheels for x86_64 in every release, for aarch64 up to 3.2.2.
_SOURCE = "PyPI, files of paddlepaddle 3.0.0 to 3.3.1, seen 2026-11"


def _run(facts: Facts) -> Finding:
    machine = known(facts.machine)
    line = f"{machine.system} {machine.arch}, {machine.libc or '?'}, {machine.name or '?'}"
    case = _case(machine)
    if case == "ok":
        return ok(line, "uname, os-release")
    states: dict[str, State] = {"aarch64": "warning", "libc-unknown": "unknown"}
    return Finding(
        states.get(case, "error"),
        case,
        {"system": machine.system, "arch": machine.arch, "libc": machine.libc or "?"},
        [Evidence(line, "uname, os-release, confstr")],
        source=_SOURCE,
    )


def _case(machine: Machine) -> str:
    """What stands against this machine, or "ok"."""
    if machine.system != "Linux":
        return "system"
    if machine.arch not in ("x86_64", "aarch64"):
        return "arch"
    if machine.libc is None:
        return "libc-unknown"
    if not machine.libc.startswith("glibc"):
        return "libc"
    return "aarch64" if machine.arch == "aarch64" else "ok"


CHECK = Check("machine-os", _run)
