"""Are the accelerators of this machine all of the vendor that the target is about?"""

from __future__ import annotations

from checks.machine import here
from checks.machine.accelerator_known import summary
from checks.machine.finding import Check, Evidence, Finding, known
from provision.facts.cards import device_types, of_device
from provision.facts.snapshot import Facts

_SOURCE = "images/accelerators.toml: one target, one device type of Paddle"


def _run(facts: Facts) -> Finding:
    cards = known(facts.accelerators)
    own = of_device(cards, facts.device)
    others = [card for card in cards if card not in own]
    evidence = [Evidence(f"{one.slot} {one.ids} {one.vendor_name}", here.bus(facts))
                for one in cards]  # fmt: skip
    if not own or not others:
        return Finding("ok", evidence=evidence or [Evidence("none", here.bus(facts))])
    types = sorted({device_types()[one.vendor] for one in others})
    values = {"target": facts.target, "others": summary(others), "types": ", ".join(types)}
    return Finding("warning", "two", values, evidence, source=_SOURCE)


CHECK = Check("accelerator-vendors", _run, devices=("npu", "gcu"))
