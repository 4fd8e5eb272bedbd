"""Does the named container's way to ask for cards fit the runtime that it has?"""

from __future__ import annotations

from checks.machine import in_container
from checks.machine.finding import APART, Check, Evidence, Finding
from provision.facts.snapshot import Facts

_SOURCE = "ascend-docker-runtime; Enflame container toolkit"


def _run(facts: Facts) -> Finding:
    found = in_container.named(facts)
    if not found or facts.stack.container is None:
        return APART
    container, output = found
    wanted = facts.stack.container.runtime
    asked = in_container.asked(container, facts.device)
    said = "=".join(asked) if asked else "no variable asks for cards"
    evidence = [Evidence(f"Runtime {container.runtime or '?'}; {said}", output.source)]
    values = {"runtime": wanted, "own": container.runtime or "?",
              "variable": in_container.ASKING[facts.device][0]}  # fmt: skip
    if container.privileged or in_container.has_cards(container, facts.device):
        return Finding("ok", evidence=evidence)  # it has its cards without the runtime
    if asked and container.runtime not in (None, wanted):
        return Finding("error", "other", values, evidence, source=_SOURCE)
    if not asked and container.runtime == wanted:
        return Finding("error", "not-asked", values, evidence, source=_SOURCE)
    return Finding("ok", evidence=evidence)


CHECK = Check("container-runtime", _run, devices=("npu", "gcu"))
