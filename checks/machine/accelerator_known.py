"""Are the accelerators of this machine known, and is there a target for them?"""

from __future__ import annotations

from checks.machine import here, told_cards
from checks.machine.finding import Check, Evidence, Finding, UnreadError, ok
from provision.facts import pci
from provision.facts.snapshot import Facts, Unread
from provision.paths import targets

_SOURCE = "images/accelerators.toml"


def _run(facts: Facts) -> Finding:
    if isinstance(facts.accelerators, Unread):
        return _by_tool(facts, facts.accelerators.reason)
    cards = facts.accelerators
    evidence = [_evidence(card) for card in cards]
    if not cards:
        return ok("no accelerator of a known vendor", "/sys/bus/pci/devices, class 1200")
    strangers = [card for card in cards if card.name is None]
    if strangers:
        values = {"vendor": strangers[0].vendor_name, "ids": strangers[0].ids}
        return Finding("unknown", "stranger", values, evidence, source=_SOURCE)
    values = {"cards": summary(cards), "target": pci.target_for(cards) or ""}
    if not values["target"]:
        return Finding("warning", "no-target", values, evidence, source=_SOURCE)
    if values["target"] not in targets():
        return Finding("warning", "target-missing", values, evidence, source=_SOURCE)
    return Finding("ok", evidence=evidence)


def _by_tool(facts: Facts, reason: str) -> Finding:
    """Nobody looked at the bus: what the vendor's tool tells of its cards."""
    outputs = here.outputs(facts)
    models = told_cards.models(outputs, facts.device)
    if not models:
        raise UnreadError(reason)
    evidence = [one.evidence for one in told_cards.told(outputs, facts.device)]
    wanted = told_cards.targets(models)
    if len(wanted) == 1 and wanted <= set(targets()):
        return Finding("ok", evidence=evidence)
    values = {"cards": ", ".join(sorted(models))}
    return Finding("warning", "no-target", values, evidence, source=_SOURCE)


def summary(cards: list[pci.Device]) -> str:
    """The cards in a few words: `8 x Ascend 910B (19e5:d802)`, kinds joined by `, `."""
    kinds: dict[str, int] = {}
    for card in cards:
        name = card.name or f"{card.vendor_name} ?"
        board = f", {card.board}" if card.board else ""
        kind = f"{name} ({card.ids}{board})"
        kinds[kind] = kinds.get(kind, 0) + 1
    return ", ".join(f"{count} x {kind}" for kind, count in kinds.items())


def _evidence(card: pci.Device) -> Evidence:
    name = card.name or "unknown model"
    node = "" if card.numa_node is None else f", NUMA node {card.numa_node}"
    return Evidence(f"{card.slot} {card.ids} {name}{node}", "/sys/bus/pci/devices")


CHECK = Check("accelerator-known", _run, needs=("accelerator-generation",))
