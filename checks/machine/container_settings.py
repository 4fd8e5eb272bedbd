"""Is the named container's shared memory large enough, and what may it do on the host?"""

from __future__ import annotations

from checks.machine.finding import APART, Check, Evidence, Finding
from checks.machine.in_container import named
from provision.amounts import size
from provision.facts.snapshot import Facts

_PRIVILEGED = "Docker documentation: --privileged"


def _run(facts: Facts) -> Finding:
    found = named(facts)
    if not found:
        return APART
    container, output = found
    shm = container.shm_bytes
    line = f"ShmSize {shm}, IpcMode {container.ipc}, NetworkMode {container.network}, " \
           f"Privileged {container.privileged}"  # fmt: skip
    evidence = [Evidence(line, output.source)]
    needs = facts.stack.container
    own = container.ipc == "host" or any(one.destination == "/dev/shm" for one in container.mounts)  # noqa: S108
    if needs and shm is not None and not own and shm < needs.least_shm:
        least = needs.least_shm
        values = {"size": size(shm), "wanted": size(least), "option": f"{least >> 20}m"}
        return Finding("warning", "shm", values, evidence, source=needs.source)
    if container.privileged:
        return Finding("warning", "privileged", {}, evidence, source=_PRIVILEGED)
    return Finding("ok", evidence=evidence)


CHECK = Check("container-settings", _run)
