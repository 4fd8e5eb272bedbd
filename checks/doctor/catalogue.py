"""The catalogue of checks: what each one looks at, and whose findings explain its own."""

from __future__ import annotations

from collections.abc import Iterator

from checks.machine.finding import Check
from checks.machine.registry import CHECKS
from provision.words import text

SCHEMA = "paddock/checks/1"


def to_json() -> dict[str, object]:
    """All checks as a JSON object, schema `paddock/checks/1`."""
    return {"schema": SCHEMA, "checks": [_check(check) for check in CHECKS]}


def _check(check: Check) -> dict[str, object]:
    sentences = {name: text(f"check.{check.id}.{name}") for name in ("title", "looks")}
    return {"id": check.id, **sentences, "needs": list(check.needs)}


def lines() -> Iterator[str]:
    """All checks for people, in the order in which they are asked."""
    width = max(len(check.id) for check in CHECKS) + 2
    for check in CHECKS:
        yield f"{check.id:<{width}}{text(f'check.{check.id}.title')}"
        yield " " * width + text(f"check.{check.id}.looks")
        if check.needs:
            yield " " * width + text("doctor.needs", checks=", ".join(check.needs))
