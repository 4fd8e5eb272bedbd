"""Are these whole cards, or shares of cards?"""

from __future__ import annotations

from checks.machine import here
from checks.machine.finding import Check, Evidence, Finding, known
from provision.facts import ascend_driver
from provision.facts.cards import LENT, of_device
from provision.facts.snapshot import Facts

_SOURCE = "npu-smi names of vNPUs (310Pvir01); the kernel's sysfs-bus-pci and driver-api/vfio"
_VIRTUAL = "(virtual function)"  # in the names of images/accelerators.toml


def _run(facts: Facts) -> Finding:
    cards, where = of_device(known(facts.accelerators), facts.device), here.bus(facts)
    if lent := [card for card in cards if card.driver in LENT]:
        values = {"slots": ", ".join(card.slot for card in lent), "driver": lent[0].driver or ""}
        evidence = [Evidence(f"{card.slot} driver {card.driver}", where) for card in lent]
        return Finding("warning", "lent", values, evidence, source=_SOURCE)
    shared = [card for card in cards if card.functions]
    if shared:
        values = {"slots": ", ".join(card.slot for card in shared)}
        evidence = [
            Evidence(f"{card.slot} sriov_numvfs {card.functions}", where) for card in shared
        ]
        return Finding("warning", "shared", values, evidence, source=_SOURCE)
    shares = [card for card in cards if card.physical or _VIRTUAL in (card.name or "")]
    evidence = [Evidence(f"{one.slot} is a function of {one.physical or '?'}", where)
                for one in shares]  # fmt: skip
    evidence += _templates(facts)
    if evidence:
        return Finding("warning", "share", {"count": str(len(evidence))}, evidence, source=_SOURCE)
    whole = [Evidence(f"{card.slot} {card.ids}", where) for card in cards]
    return Finding("ok", evidence=whole or [Evidence("no card", where)])


def _templates(facts: Facts) -> list[Evidence]:
    """Shares by the names that npu-smi prints, and by their device nodes."""
    shown = ascend_driver.table(here.outputs(facts))
    rows = [Evidence(f"NPU {card.npu_id} {card.name}", shown[1].source)
            for card in shown[0].cards if "vir" in card.name] if shown else []  # fmt: skip
    return rows or [Evidence(node.path, "/dev") for node in here.nodes(facts)
                    if node.path.startswith(("/dev/vdavinci", "/dev/vgcu"))]  # fmt: skip


CHECK = Check("accelerator-virtual", _run, devices=("npu", "gcu"))
