"""Does each card have all lanes and the speed of its PCIe link?"""

from __future__ import annotations

from checks.machine import here
from checks.machine.finding import Check, Evidence, Finding, UnreadError, known
from provision.facts.cards import of_device
from provision.facts.pci import Device
from provision.facts.snapshot import Facts

_SOURCE = "the kernel's sysfs-bus-pci: current_link_width, max_link_width, current_link_speed"


def _run(facts: Facts) -> Finding:
    # A virtual function has no link of its own.
    cards = [card for card in of_device(known(facts.accelerators), facts.device)
             if card.physical is None]  # fmt: skip
    told = [card for card in cards if card.link_width and card.max_link_width]
    if cards and not told:
        raise UnreadError("current_link_width")
    narrow = [card for card in told if (card.link_width or 0) < (card.max_link_width or 0)]
    if narrow:
        return _finding("narrow", narrow, facts)
    if slow := _slow(told):
        return _finding("slow", slow, facts)
    return Finding(
        "ok",
        evidence=[_evidence(card, facts) for card in told] or [Evidence("none", here.bus(facts))],
    )


def _slow(cards: list[Device]) -> list[Device]:
    """The few whose link is slower than that of most.

    An idle card may lower its speed to save power, and a slot may be of an older generation: that
    all are slower than they could be shows nothing.
    """
    full = [card for card in cards if (card.link_speed_gt or 0) >= (card.max_link_speed_gt or 0)]
    slow = [card for card in cards if card not in full and card.link_speed_gt]
    return slow if len(full) > len(slow) else []


def _finding(case: str, cards: list[Device], facts: Facts) -> Finding:
    """A finding about the first of these cards, with all as evidence."""
    card = cards[0]
    values = {
        "slots": ", ".join(one.slot for one in cards), "width": str(card.link_width),
        "full": str(card.max_link_width), "speed": f"{card.link_speed_gt or '?'}",
        "top": f"{card.max_link_speed_gt or '?'}",
    }  # fmt: skip
    evidence = [_evidence(one, facts) for one in cards]
    return Finding("warning", case, values, evidence, f"lspci -vvs {card.slot}", _SOURCE)


def _evidence(card: Device, facts: Facts) -> Evidence:
    line = (f"{card.slot} x{card.link_width} of x{card.max_link_width}, "
            f"{card.link_speed_gt or '?'} of {card.max_link_speed_gt or '?'} GT/s")  # fmt: skip
    return Evidence(line, here.bus(facts))


CHECK = Check("accelerator-link", _run, devices=("npu", "gcu"))
