"""The cards that the vendor's tool tells of: all that is known of them where no bus was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from checks.machine.finding import Evidence
from checks.machine.lines import line_of
from provision.facts import ascend_driver, cards, enflame, pci
from provision.facts.questions import Output
from provision.facts.texts.generation import generation
from provision.words import text

_TOOLS: Mapping[str, str] = {"npu": "npu-smi", "gcu": "efsmi"}


class Told(NamedTuple):
    """A card by the name that the tool prints.

    `model` is what `images/accelerators.toml` calls it, a generation or a name; None where the
    name does not tell.
    """

    name: str
    model: str | None
    evidence: Evidence


def told(outputs: Iterable[Output], device: str) -> list[Told]:
    """The cards of a device type, in the tool's order; none where it does not name them all."""
    outputs = list(outputs)
    if device == "npu":
        return _npus(outputs)
    return _gcus(outputs) if device == "gcu" else []


def _npus(outputs: list[Output]) -> list[Told]:
    shown = ascend_driver.table(outputs)
    return [_told(card.npu_id, card.name, generation(card, {}), shown[1])
            for card in shown[0].cards] if shown else []  # fmt: skip


def _gcus(outputs: list[Output]) -> list[Told]:
    """By the table, else by `efsmi -q`, which may be there several times, with names or without."""
    if shown := enflame.table(outputs):
        rows = {one.device_id: (one.name, shown[1]) for one in shown[0].cards}
    else:
        queried = list(enflame.queried(outputs))
        rows = {one.device_id: (one.name, output) for one, output in queried if one.name}
        if any(one.device_id not in rows for one, _ in queried):
            return []
    return [_told(number, name, enflame.model(name), output)
            for number, (name, output) in rows.items()]  # fmt: skip


def models(outputs: Iterable[Output], device: str) -> set[str]:
    """What the cards of a device type are; empty where one of them does not tell."""
    found = {one.model for one in told(outputs, device)}
    return {model for model in found if model} if None not in found else set()


def targets(models: Iterable[str]) -> set[str]:
    """The targets for these models or generations."""
    named = set(models)
    return {row.target for row in pci.catalogue().models
            if row.target and {row.name, row.generation} & named}  # fmt: skip


def summary(outputs: Iterable[Output]) -> Iterator[str]:
    """The cards of each tool in a few words: `8 x 910B3 (npu-smi)`, kinds joined by `, `.

    Of a table that was cut off, and of `efsmi -q`, which may be asked about one card, nobody knows
    how many there are.
    """
    outputs = list(outputs)
    for device, tool in _TOOLS.items():
        names = Counter(one.name for one in told(outputs, device))
        kinds = ", ".join(f"{count} x {name}" for name, count in names.items())
        shown = cards.shown(outputs, device)
        if kinds:
            key = "doctor.tool-cards" if shown and shown.complete else "doctor.tool-some"
            yield text(key, cards=kinds, tool=tool)


def _told(number: int, name: str, model: str | None, output: Output) -> Told:
    line = line_of(output, f"| {number} {name} ") or f"{number} {name}"
    return Told(name, model, Evidence(line, output.source))
