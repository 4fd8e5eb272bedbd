"""The order of the steps on this machine: an upgrade goes another way than a fresh installation."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from provision.journal import UNFINISHED, Entry
from provision.stack import Step
from provision.steps.base import Context
from provision.vendor.shown import shown


def arranged(context: Context, last: Mapping[str, Entry]) -> list[Step]:
    """The stack's steps; one with `upgrade_before` changes places with that step on an upgrade.

    Source for driver and firmware: the vendor's installation guides (fresh: driver, firmware;
    upgrade: firmware, driver).
    """
    steps = list(context.stack.steps)
    for step in context.stack.steps:
        if step.upgrade_before and _is_upgrade(context, step.upgrade_before, last):
            steps = _swapped(steps, step.name, step.upgrade_before)
    return steps


def _is_upgrade(context: Context, name: str, last: Mapping[str, Entry]) -> bool:
    """Whether a whole version was there before: one whose installation was cut short is none."""
    entry = last.get(name)
    if entry and entry.event in UNFINISHED:
        return False
    package = context.stack.packages[context.step(name).package or ""]
    return shown(package, context).state == "older"


def _swapped(steps: list[Step], later: str, sooner: str) -> list[Step]:
    """The steps with `later`, which needs `sooner`, in its place, and `sooner` needing it."""
    by_name = {step.name: step for step in steps}
    first, second = by_name[later], by_name[sooner]
    moved = {
        sooner: replace(first, needs=second.needs),
        later: replace(second, needs=(*second.needs, first.name)),
    }
    return [moved.get(step.name, step) for step in steps]
