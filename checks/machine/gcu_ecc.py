"""Do all Enflame cards have one ECC mode, and is it the one in force after a restart?"""

from __future__ import annotations

from checks.machine.finding import Check, Evidence, Finding, UnreadError, known
from provision.facts import enflame
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.facts.texts.efsmi import Card
from provision.facts.texts.efsmi_query import Device

_SOURCE = "efsmi of an S60: 49120 MiB with ECC off, 42976 MiB with it on (PaddlePaddle docs, GCU)"


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    if waiting := _waiting(outputs):
        return waiting
    cards = _modes(outputs)
    if not cards:
        raise UnreadError("efsmi shows no ECC")
    kinds = {mode.lower() for _, mode, _, _ in cards}
    evidence = [Evidence(line, source) for line, _, _, source in cards]
    if len(kinds) == 1:
        return Finding("ok", evidence=evidence[:10])
    sizes = sorted({size for _, _, size, _ in cards if size})
    values = {"least": f"{sizes[0]} MiB" if sizes else "?",
              "most": f"{sizes[-1]} MiB" if sizes else "?"}  # fmt: skip
    return Finding("warning", "mixed", values, evidence, source=_SOURCE)


def _modes(outputs: list[Output]) -> list[tuple[str, str, int | None, str]]:
    """A line, the mode, the memory (MiB) and the source of each card that tells its mode."""
    shown = enflame.table(outputs)
    cards: list[tuple[Card | Device, Output]] = (
        [(card, shown[1]) for card in shown[0].cards] if shown else []
    )
    cards = cards or list(enflame.queried(outputs))
    return [(f"{one.device_id}: ECC {one.ecc}, {one.memory_total_mb or '?'} MiB", one.ecc,
             one.memory_total_mb, output.source) for one, output in cards if one.ecc]  # fmt: skip


def _waiting(outputs: list[Output]) -> Finding | None:
    """A mode that was set and waits for the card's next start."""
    for device, output in enflame.queried(outputs):
        modes = device.sections.get("ECC Mode", {})
        now, then = modes.get("Current", ""), modes.get("Pending", "")
        if now and then and then not in ("-", "N/A") and now.lower() != then.lower():
            line = f"DEV ID {device.device_id} ECC Mode Current: {now}, Pending: {then}"
            values = {"card": str(device.device_id), "now": now, "then": then}
            return Finding("warning", "pending", values, [Evidence(line, output.source)],
                           "reboot", _SOURCE)  # fmt: skip
    return None


CHECK = Check("gcu-ecc", _run, needs=("gcu-module", "gcu-tool"), devices=("gcu",))
