"""Memory errors of the NPUs, where `npu-smi info -t ecc` was asked: for cards in trouble."""

from __future__ import annotations

from collections.abc import Iterator

from checks.machine.finding import APART, Check, Evidence, Finding, known
from provision.facts import ascend_driver
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.facts.texts.blocks import Block

_SOURCE = "npu-smi info -t ecc: errors of two bits, and pages that were put out of use for them"
_KIND = "npu-smi info -t ecc"


def _run(facts: Facts) -> Finding:
    blocks = ascend_driver.blocks(known(facts.outputs), _KIND)
    if not blocks:
        return APART
    bad = [(block, label, count, output) for block, output in blocks
           for label, count in _double(block)]  # fmt: skip
    if not bad:
        return Finding("ok", evidence=[_evidence(block, "Double Bit", 0, output)
                                       for block, output in blocks[:8]])  # fmt: skip
    values = {"npus": ", ".join(sorted({str(row[0].npu_id) for row in bad})),
              "label": bad[0][1], "count": str(bad[0][2])}  # fmt: skip
    return Finding("warning", "double", values, [_evidence(*row) for row in bad], source=_SOURCE)


def _double(block: Block) -> Iterator[tuple[str, int]]:
    """The counts that are not zero of errors that could not be corrected."""
    for label, value in block.values.items():
        if "Double Bit" in label and isinstance(value, int) and value > 0:
            yield label, value


def _evidence(block: Block, label: str, count: int, output: Output) -> Evidence:
    return Evidence(f"NPU {block.npu_id}: {label} : {count}", output.source)


CHECK = Check("npu-ecc", _run, needs=("npu-health",), devices=("npu",))
