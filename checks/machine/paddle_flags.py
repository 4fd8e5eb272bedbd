"""Are the FLAGS_ variables ones that Paddle on this device can work with?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from checks.machine.finding import Check, Evidence, Finding, State, known
from provision.facts import visible
from provision.facts.snapshot import Facts, Unread

_TRUE = ("1", "true", "t", "yes", "y", "on")
_JIT = "https://github.com/PaddlePaddle/PaddleCustomDevice/issues/1214 (500001)"
_PIR = "https://github.com/PaddlePaddle/Paddle/issues/73990"
_SELECTED = "PaddlePaddle documentation, paddle.distributed.launch --devices"


def _run(facts: Facts) -> Finding:
    given = {name: value for name, value in known(facts.variables).items()
             if name.startswith("FLAGS_")}  # fmt: skip
    found = sorted(_all(facts, given), key=lambda one: one.state != "error")
    if found:
        return found[0]
    line = ", ".join(f"{name}={value}" for name, value in given.items())
    return Finding("ok", evidence=[Evidence(line or "none set", "variables")])


def _all(facts: Facts, given: Mapping[str, str]) -> Iterator[Finding]:
    """All that is wrong with the flags."""
    if selected := _selected(facts, given):
        yield selected
    if facts.device == "npu" and _is_on(given, "FLAGS_npu_jit_compile"):
        yield _bad("warning", "jit", "FLAGS_npu_jit_compile", given, _JIT)
    if facts.device == "npu" and _is_on(given, "FLAGS_enable_pir_api"):
        yield _bad("warning", "pir", "FLAGS_enable_pir_api", given, _PIR)


def _is_on(given: Mapping[str, str], name: str) -> bool:
    return given.get(name, "").strip().lower() in _TRUE


def _selected(facts: Facts, given: Mapping[str, str]) -> Finding | None:
    """A card that was selected for this process and that it does not have."""
    name = f"FLAGS_selected_{facts.device}s"
    value = given.get(name, "")
    words = [word.strip() for word in value.split(",") if word.strip()]
    if bad := next((word for word in words if not re.fullmatch("[0-9]{1,6}", word)), None):
        return _bad("error", "garbage", name, given, _SELECTED, bad=bad)
    count = _count(facts)
    beyond = [word for word in words if count is not None and int(word) >= count]
    if not beyond:
        return None
    return _bad("error", "beyond", name, given, _SELECTED, bad=beyond[0], count=str(count))


def _count(facts: Facts) -> int | None:
    """How many cards a process sees; None where that is not known."""
    if isinstance(facts.nodes, Unread):
        return None
    variables = known(facts.variables)
    rows = [row for row in visible.variables()
            if row.device == facts.device and row.where == "process"]  # fmt: skip
    for row in rows:
        there = visible.numbers(facts.nodes, row.nodes)
        choice = visible.choose(row, variables.get(row.name, ""), there)
        if choice.problem:  # said by the check of that variable
            return None
        if there:
            return len(choice.ids) or len(there)
    return None


def _bad(
    state: State, case: str, name: str, given: Mapping[str, str], source: str, **more: str
) -> Finding:
    """A flag that is not as it should be."""
    values = {"name": name, "value": given[name], **more}
    evidence = [Evidence(f"{name}={given[name]}", "variable")]
    fixed = f"export {name}=0" if case in ("jit", "pir") else f"unset {name}"
    return Finding(state, case, values, evidence, fixed, source)


CHECK = Check("paddle-flags", _run, needs=("devices-visible",), devices=("npu", "gcu"))
