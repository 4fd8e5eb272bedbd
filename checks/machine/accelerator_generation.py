"""Are the cards those that the target is for? The name that a tool prints does not tell that."""

from __future__ import annotations

from collections.abc import Iterator

from checks.machine import here, told_cards
from checks.machine.finding import APART, Check, Evidence, Finding, UnreadError, known
from checks.machine.lines import line_of
from provision.facts import ascend_driver, pci
from provision.facts.cards import of_device
from provision.facts.questions import Output
from provision.facts.snapshot import Facts, Unread

_SOURCE = "PCI ids in hicann/driver and pci.ids; https://github.com/Ascend/pytorch/issues/144"
_TRAP = "910B"  # npu-smi prints it for cards of the first generation too


def _run(facts: Facts) -> Finding:
    if isinstance(facts.accelerators, Unread):
        return _unseen(facts, facts.accelerators.reason)
    accelerators = known(facts.accelerators)
    trapped = _trapped(facts, accelerators)
    if facts.device not in ("npu", "gcu"):  # no target fits; but the name misleads all the same
        return _trap(trapped, "ascend910b") if trapped else APART
    cards = of_device(accelerators, facts.device)
    others = [card for card in cards if card.name and card.target != facts.target]
    if not cards:
        return _by_tool(facts)
    if not others:
        return Finding("ok", evidence=[_evidence(card, facts) for card in cards])
    if trapped:
        return _trap(trapped, facts.target)
    values = {"cards": ", ".join(sorted({card.name or card.ids for card in others})),
              "wanted": _wanted(facts.target), "target": facts.target}  # fmt: skip
    case = "other" if len(others) == len(cards) else "mixed"
    return Finding(
        "error", case, values, [_evidence(card, facts) for card in others], source=_SOURCE
    )


def _trap(trapped: list[Evidence], target: str) -> Finding:
    """Cards of the first generation under the name of the second."""
    values = {"target": target, "wanted": _wanted(target)}
    return Finding("error", "trap", values, trapped, source=_SOURCE)


def _trapped(facts: Facts, cards: list[pci.Device]) -> list[Evidence]:
    """The lines that show the name 910B on cards that are none, and what they are."""
    wrong = [card for card in cards if card.generation and card.target is None]
    lines = [Evidence(line, source) for line, name, source in _named(facts) if name == _TRAP]
    return [_evidence(wrong[0], facts), *lines[:1]] if wrong and lines else []


def _named(facts: Facts) -> Iterator[tuple[str, str, str]]:
    """Line, name and source of each card of npu-smi."""
    if shown := ascend_driver.table(here.outputs(facts)):
        for card in shown[0].cards:
            name = card.name.removeprefix("Ascend").strip()
            yield _line(shown[1], card.npu_id, card.name), name, shown[1].source


def _unseen(facts: Facts, reason: str) -> Finding:
    """Nobody looked at the bus: the tool's table can still tell what the cards are."""
    finding = APART if isinstance(facts.outputs, Unread) else _by_tool(facts)
    if finding.state not in ("ok", "error"):
        raise UnreadError(reason)
    return finding


def _by_tool(facts: Facts) -> Finding:
    """The bus shows no card: what the names and the memory in the tool's table tell."""
    told = told_cards.told(known(facts.outputs), facts.device)
    models = [model for model in pci.catalogue().models if model.target == facts.target]
    wanted = {name for model in models for name in (model.name, model.generation)}
    for one in told:
        if one.model is not None and one.model not in wanted:
            values = {"cards": one.model, "wanted": _wanted(facts.target), "target": facts.target}
            return Finding("error", "other", values, [one.evidence], source=_SOURCE)
        if one.model is None:
            return Finding("unknown", "unclear", {"name": one.name}, [one.evidence])
    return Finding("ok", evidence=[one.evidence for one in told]) if told else APART


def _line(output: Output, number: int, name: str) -> str:
    return line_of(output, f"| {number} {name} ") or f"{number} {name}"


def _wanted(target: str) -> str:
    """The models of a target."""
    names = [f"{one.name} ({one.vendor}:{one.device})" for one in pci.catalogue().models
             if one.target == target]  # fmt: skip
    return names[0] if names else "?"


def _evidence(card: pci.Device, facts: Facts) -> Evidence:
    what = card.generation or card.name or "?"
    return Evidence(f"{card.slot} {card.ids} {what}", here.bus(facts))


CHECK = Check("accelerator-generation", _run)
