"""Are all cards there: on the bus, in the vendor's tool, and as many as such a machine has?"""

from __future__ import annotations

from collections import Counter

from checks.machine import here
from checks.machine.finding import Check, Evidence, Finding, known
from provision.facts import cards as views
from provision.facts.pci import Device
from provision.facts.snapshot import Facts

_SOURCE = "Ascend/mind-cluster, ascend-faultdiag fixture of a lost card; the kernel's sysfs-bus-pci"
_SHORT = {7: 8, 15: 16}  # cards: what machines are built with, less the one that was lost


def _run(facts: Facts) -> Finding:
    cards = views.of_device(known(facts.accelerators), facts.device)
    shown = views.shown(here.outputs(facts), facts.device)
    evidence = [_evidence(card, facts) for card in cards]
    if fallen := [card for card in cards if card.revision == views.FALLEN]:
        values = {"slots": _slots(fallen)}
        return Finding("error", "fallen", values, [_evidence(card, facts) for card in fallen],
                       f"lspci -vvs {fallen[0].slot}", _SOURCE)  # fmt: skip
    if not cards:
        return _none(facts, shown)
    if shown:
        evidence.append(Evidence(f"cards or dies: {shown.chips}", shown.source))
    if hidden := _hidden(facts, cards, shown):
        values = {"slots": _slots(hidden), "there": str(len(cards)),
                  "shown": str(shown.chips if shown else 0)}  # fmt: skip
        command = f"dmesg | grep {hidden[0].slot}"
        return Finding("error", "hidden", values, evidence, command, _SOURCE)
    return _lost(facts, cards, shown, evidence) or Finding("ok", evidence=evidence)


def _none(facts: Facts, shown: views.Shown | None) -> Finding:
    """No card on the bus. A sandbox may hide the bus and give the cards all the same."""
    if shown and shown.chips:
        return Finding("ok", evidence=[Evidence(f"cards or dies: {shown.chips}", shown.source)])
    line = f"no card of type {facts.device}, class 1200"
    evidence = [
        Evidence(line, here.bus(facts)),
        *(Evidence(node.path, "/dev") for node in here.nodes(facts)[:3]),
    ]
    values = {"target": facts.target}
    return Finding("error", "none", values, evidence, "lspci -nn -d ::1200", _SOURCE)


def _hidden(facts: Facts, cards: list[Device], shown: views.Shown | None) -> list[Device]:
    """The cards on the bus that the tool lacks. A container rightly shows those it was given."""
    whole = views.whole(cards)
    if not shown or not shown.complete or not shown.chips or here.in_container(facts):
        return []
    if shown.chips >= len(whole) or not shown.buses:
        return []
    return [card for card in whole if not views.lists(shown, card.slot)]


def _lost(
    facts: Facts, cards: list[Device], shown: views.Shown | None, evidence: list[Evidence]
) -> Finding | None:
    """One card fewer than such machines have, and a place that shows where it was."""
    whole = views.whole(cards)
    built = _SHORT.get(len(whole))
    place = _gap(whole, shown) if built and not here.in_container(facts) else ""
    if not place:
        return None
    values = {"there": str(len(whole)), "built": str(built), "place": place}
    return Finding("warning", "lost", values, evidence, "dmesg | grep -i pcie", _SOURCE)


def _gap(cards: list[Device], shown: views.Shown | None) -> str:
    """Where one is missing: beside which card, or which number is skipped; "" for no sign."""
    alone = _alone(sorted(card.slot for card in cards))
    if len(alone) == 1:
        return alone[0]
    nodes = Counter(card.numa_node for card in cards)
    fewer = [node for node, count in nodes.items() if count < max(nodes.values())]
    if None not in nodes and len(fewer) == 1:
        beside = [card for card in cards if card.numa_node == fewer[0]]
        return f"NUMA {fewer[0]} ({_slots(beside)})"
    ids = set(shown.ids) if shown else set()
    skipped = set(range(len(cards) + 1)) - ids
    return f"id {min(skipped)}" if len(skipped) == 1 and min(skipped) < max(ids) else ""


def _alone(slots: list[str]) -> list[str]:
    """The slots without the neighbour that all others have, where cards stand in pairs."""
    found, left = [], list(slots)
    while left:
        slot = left.pop(0)
        if left and _bus(left[0]) == _bus(slot) + 1:
            left.pop(0)
        else:
            found.append(slot)
    return found


def _bus(slot: str) -> int:
    """Domain and bus as one number."""
    return int(slot.partition(".")[0].rpartition(":")[0].replace(":", ""), 16)


def _slots(cards: list[Device]) -> str:
    return ", ".join(card.slot for card in cards)


def _evidence(card: Device, facts: Facts) -> Evidence:
    node = "" if card.numa_node is None else f", NUMA node {card.numa_node}"
    revision = "" if card.revision is None else f" (rev {card.revision})"
    return Evidence(f"{card.slot} {card.ids}{revision}{node}", here.bus(facts))


CHECK = Check("accelerator-count", _run, devices=("npu", "gcu"))
