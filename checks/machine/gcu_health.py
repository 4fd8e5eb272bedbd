"""Are the Enflame cards well, by `efsmi -q`: health, memory errors, power cable, return flag?"""

from __future__ import annotations

from checks.machine.finding import Check, Evidence, Finding, State, UnreadError, known
from provision.facts import enflame
from provision.facts.cards import WELL
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.facts.texts.efsmi_query import Device

_SOURCE = "efsmi -q of driver 1.2.4.12 and 1.4.3.4 in public code"
_NOTHING = ("", "-", "n/a", "na", "unknown", "not supported")
# Section, field, the word of a good card, and the case that any other word is; worst first.
_RULES: tuple[tuple[str, str, tuple[str, ...], str, State], ...] = (
    ("Device Info", "Health", WELL, "health", "error"),
    ("RMA Info", "Flags", ("false", "no", "0"), "return", "error"),
    ("Power Cable", "Status", ("normal", "ok", "good"), "cable", "error"),
    ("RMA Info", "Total DBE", ("0",), "memory", "warning"),
    ("RMA Info", "DBE", ("0",), "memory", "warning"),
)


def _run(facts: Facts) -> Finding:
    cards = [card for card in enflame.queried(known(facts.outputs))
             if any(_word(card[0], *rule[:2]) for rule in _RULES)]  # fmt: skip
    if not cards:
        raise UnreadError("efsmi -q")
    for section, field, good, case, state in _RULES:
        words = [(device, _word(device, section, field), output) for device, output in cards]
        bad = [row for row in words if row[1] and row[1].lower() not in good]
        if bad:
            numbers = ", ".join(str(device.device_id) for device, _, _ in bad)
            evidence = [_evidence(device, f"{section} {field}: {word}", output)
                        for device, word, output in bad]  # fmt: skip
            values = {"cards": numbers, "word": bad[0][1]}
            return Finding(state, case, values, evidence, source=_SOURCE)
    return Finding("ok", evidence=[_evidence(device, f"Health: {device.health or '-'}", output)
                                   for device, output in cards[:10]])  # fmt: skip


def _word(device: Device, section: str, field: str) -> str:
    """What a card says; "" for nothing. The health is taken from wherever it stands."""
    value = device.sections.get(section, {}).get(field, "")
    value = value or (device.health or "" if field == "Health" else "")
    return "" if value.lower() in _NOTHING else value


def _evidence(device: Device, said: str, output: Output) -> Evidence:
    return Evidence(f"DEV ID {device.device_id} {said}", output.source)


CHECK = Check("gcu-health", _run, needs=("gcu-module", "gcu-tool"), devices=("gcu",))
