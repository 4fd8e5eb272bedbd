"""Has each Enflame card all of its PCIe lanes, by `efsmi -q`, where the bus itself was not read?"""

from __future__ import annotations

import re

from checks.machine.finding import APART, Check, Evidence, Finding, UnreadError, known
from provision.facts import enflame
from provision.facts.snapshot import Facts
from provision.facts.texts.efsmi_query import Device

_SOURCE = "efsmi -q: Cur Link Width, Max Link Width"


def _run(facts: Facts) -> Finding:
    if isinstance(facts.accelerators, list) and any(
        card.vendor == enflame.VENDOR and card.link_width for card in facts.accelerators
    ):
        return APART  # the bus tells it, and that of every vendor's cards
    links = [(device, width, output) for device, output in enflame.queried(known(facts.outputs))
             if (width := _widths(device))]  # fmt: skip
    if not links:
        raise UnreadError("efsmi -q")
    evidence = [Evidence(f"DEV ID {device.device_id} Link Width: X{now} of X{most}", output.source)
                for device, (now, most), output in links]  # fmt: skip
    narrow = [(device, now, most) for device, (now, most), _ in links if now < most]
    if not narrow:
        return Finding("ok", evidence=evidence[:10])
    device, now, most = narrow[0]
    values = {"card": str(device.device_id), "now": str(now), "most": str(most)}
    return Finding("warning", "narrow", values, evidence, source=_SOURCE)


def _widths(device: Device) -> tuple[int, int] | None:
    """Lanes now and at most."""
    fields = {name: value for part in device.sections.values() for name, value in part.items()}
    found = [re.fullmatch(r"[Xx]([0-9]{1,2})", fields.get(f"{name} Link Width", ""))
             for name in ("Cur", "Max")]  # fmt: skip
    return (int(found[0][1]), int(found[1][1])) if found[0] and found[1] else None


CHECK = Check("gcu-link", _run, needs=("gcu-module", "gcu-tool"), devices=("gcu",))
