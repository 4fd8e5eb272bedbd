"""Are the network links of the NPUs up, where `hccn_tool` was asked?"""

from __future__ import annotations

from checks.machine.finding import APART, Check, Evidence, Finding, known
from provision.facts.outputs import found
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.facts.texts.hccn import Hccn

_SOURCE = "hccn_tool -link -g: link status; CANN documentation, HCCN Tool"
_LABEL = "link status"


def _run(facts: Facts) -> Finding:
    answers = [(one, output) for one, output in found(known(facts.outputs), Hccn)
               if _word(one) in ("UP", "DOWN")]  # fmt: skip
    if not answers:
        return APART
    down = [row for row in answers if _word(row[0]) == "DOWN"]
    if not down:
        return Finding("ok", evidence=[_evidence(*row) for row in answers[:16]])
    ids = ["?" if one.device_id is None else str(one.device_id) for one, _ in down]
    values = {"ids": ", ".join(ids)}
    command = "" if ids[0] == "?" else f"hccn_tool -i {ids[0]} -optical -g"
    return Finding("warning", "down", values, [_evidence(*row) for row in down], command, _SOURCE)


def _word(one: Hccn) -> str:
    return str(one.values.get(_LABEL) or "").upper()


def _evidence(one: Hccn, output: Output) -> Evidence:
    card = "" if one.device_id is None else f"NPU {one.device_id}: "
    return Evidence(f"{card}{_LABEL}: {_word(one)}", output.source)


CHECK = Check("npu-network", _run, devices=("npu",))
