"""The shared answer of the checks that compare the environment with its lock."""

from __future__ import annotations

from checks.machine.finding import APART, Evidence, Finding, known, mended, ok
from provision.facts.installed import Difference
from provision.facts.snapshot import Facts
from provision.stack import Layer

_SHOWN = 5  # lines of evidence; the count says the rest


def judge(facts: Facts, layers: tuple[Layer, ...]) -> Finding:
    """An error when a package of these layers is missing or of another version."""
    if facts.foreign:
        return APART
    comparison = known(facts.comparison)
    if comparison is None:
        return Finding("unknown", "no-lock", {"target": facts.target})
    where = f"images/{facts.target}/locks/{comparison.release}"
    wrong = [one for one in comparison.differences if one.layer in layers]
    if not wrong:
        return ok(f"as locked for {comparison.release}", where)
    evidence = [Evidence(_line(one), f"{where}/{one.layer}.txt") for one in wrong[:_SHOWN]]
    values = {"count": str(len(wrong)), "release": comparison.release, "name": wrong[0].name}
    return mended(Finding("error", "differs", values, evidence), facts, _step(facts, wrong))


def _line(one: Difference) -> str:
    return f"{one.name} {one.found or 'is not installed'}, locked {one.wanted}"


def _step(facts: Facts, wrong: list[Difference]) -> str:
    """The first step that installs one of these layers."""
    layers = {one.layer for one in wrong}
    return next((step.name for step in facts.stack.steps if step.lock in layers), "")
