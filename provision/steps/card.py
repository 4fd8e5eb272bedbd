"""Kind `card`: the accelerators that the target is for are in the machine. It runs nothing."""

from __future__ import annotations

from pathlib import Path

from provision.facts import pci, pci_text
from provision.stack import Step
from provision.steps.base import Context, Lack, Look, NotSo


class Card(Look):
    """Looked up by the ids of the PCI bus, never by a name."""

    def verify(self, step: Step, context: Context) -> list[Path]:
        """At least one card of the target's generation."""
        if not _fits(context):
            raise NotSo(context.stack.target)
        return []

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """What is there instead; it cannot be made."""
        if _fits(context):
            return None
        others = sorted({card.name or f"{card.vendor_name} {card.ids}" for card in _cards()})
        return Lack("wrong-card", ", ".join(others)) if others else Lack("no-card", "lspci -Dnn")


def _fits(context: Context) -> bool:
    return any(card.target == context.stack.target for card in _cards())


def _cards() -> list[pci.Device]:
    try:
        return pci_text.collect()
    except OSError:  # neither sysfs nor lspci
        return []
