"""Does the named container run?"""

from __future__ import annotations

from pathlib import PurePath

from checks.machine.finding import APART, Check, Evidence, Finding, UnreadError
from checks.machine.in_container import named
from provision.facts.snapshot import Facts
from provision.facts.texts.docker import Container

_KILLED = 137  # 128 + SIGKILL


def _run(facts: Facts) -> Finding:
    if not (found := named(facts)):
        return APART
    container, output = found
    if not container.state:
        raise UnreadError("State.Status")
    if container.state == "running":
        return Finding("ok", evidence=[Evidence(f"{container.name}: running", output.source)])
    name, case = container.name or "?", _case(container)
    engine = PurePath(output.real).name or "docker"
    command = {"paused": f"{engine} unpause {name}", "created": f"{engine} start {name}"}.get(
        case, f"{engine} logs --tail 50 {name}"
    )
    values = {"name": name, "state": container.state, "code": str(container.exit_code)}
    return Finding("error", case, values, [Evidence(_line(container), output.source)], command)


def _line(container: Container) -> str:
    """The state, and what it says of the container's end."""
    ended = container.exit_code or container.state in ("exited", "dead")
    code = f"exit code {container.exit_code}" if ended else ""
    error = " ".join((container.error or "").split())
    return ", ".join(filter(None, (f"{container.name}: {container.state}", code, error)))


def _case(container: Container) -> str:
    """Why it does not run, as far as its state tells."""
    if container.out_of_memory:
        return "memory"
    if container.error:
        return "refused"
    if container.state in ("paused", "created", "restarting"):
        return container.state
    return "killed" if container.exit_code == _KILLED else "ended"


CHECK = Check("container-running", _run)
