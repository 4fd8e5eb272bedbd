"""Does ASCEND_RT_VISIBLE_DEVICES of the named container name cards that it has?"""

from __future__ import annotations

from checks.machine import in_container
from checks.machine.finding import APART, Check, Evidence, Finding
from provision.facts.snapshot import Facts

_NAME = "ASCEND_RT_VISIBLE_DEVICES"
_SOURCE = "vllm-ascend pull request 10227: ids are the container's own, others give 107001"


def _run(facts: Facts) -> Finding:
    found = in_container.named(facts)
    if not found:
        return APART
    container, output = found
    variables = container.environment
    shown = [f"{name}={value}" for name, value in variables.items() if "VISIBLE" in name]
    evidence = [Evidence(line, output.source) for line in shown or ["no variable names cards"]]
    count = in_container.cards(container, facts)
    numbers = in_container.numbers_of(variables.get(_NAME, ""))
    if numbers and count is not None and max(numbers) >= count:
        values = {"value": variables[_NAME], "last": str(count - 1)}
        return Finding("error", "host-ids", values, evidence, source=_SOURCE)
    return Finding("ok", evidence=evidence)


CHECK = Check("container-environment", _run, needs=("container-runtime",), devices=("npu",))
