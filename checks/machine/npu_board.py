"""Does the driver itself say that it and the firmware fit, by `npu-smi info -t board`?"""

from __future__ import annotations

from checks.machine.finding import APART, Check, Evidence, Finding, known
from provision.facts import ascend_driver
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.facts.texts.blocks import Block

_SOURCE = "hicann/driver, dcmi_get_device_compatibility: OK, NOK, UNKNOWN"
_KIND = "npu-smi info -t board"
_LABEL = "Compatibility"


def _run(facts: Facts) -> Finding:
    blocks = [row for row in ascend_driver.blocks(known(facts.outputs), _KIND)
              if row[0].values.get(_LABEL)]  # fmt: skip
    if not blocks:
        return APART
    bad = [row for row in blocks if row[0].values[_LABEL] == "NOK"]
    if not bad:
        return Finding("ok", evidence=[_evidence(*row) for row in blocks[:8]])
    told = bad[0][0].values
    values = {"driver": str(told.get("Software Version") or "?"),
              "firmware": str(told.get("Firmware Version") or "?"),
              "npus": ", ".join(str(block.npu_id) for block, _ in bad)}  # fmt: skip
    command = f"npu-smi info -t board -i {bad[0][0].npu_id}"
    return Finding("error", "nok", values, [_evidence(*row) for row in bad], command, _SOURCE)


def _evidence(block: Block, output: Output) -> Evidence:
    return Evidence(f"NPU {block.npu_id}: {_LABEL} : {block.values[_LABEL]}", output.source)


CHECK = Check("npu-board", _run, needs=("npu-tool", "driver-firmware"), devices=("npu",))
