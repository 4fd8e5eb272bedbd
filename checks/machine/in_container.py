"""What the checks of a named container share: how it is meant to get its cards, and how many."""

from __future__ import annotations

import re

from provision.facts import named_container
from provision.facts.questions import Output
from provision.facts.snapshot import Facts, Unread
from provision.facts.texts.docker import Container

# Variables by which a container asks the vendor's runtime for cards (ascend-docker-runtime;
# Enflame's container toolkit).
ASKING = {
    "npu": ("ASCEND_VISIBLE_DEVICES",),
    "gcu": ("ENFLAME_VISIBLE_DEVICES", "TOPS_VISIBLE_DEVICES"),
}
_NONE = ("", "none", "void")
_CARD = {"npu": re.compile(r"/dev/davinci\d+"), "gcu": re.compile(r"/dev/gcu\d+")}


def named(facts: Facts) -> tuple[Container, Output] | None:
    """The container that was named, and its engine's answer; None where none was."""
    if isinstance(facts.outputs, Unread):
        return None
    return named_container.inspected(facts.outputs)


def asked(container: Container, device: str) -> tuple[str, str] | None:
    """The variable that asks for cards, with its value."""
    names = ASKING.get(device, ())
    variables = container.environment
    return next(((name, variables[name]) for name in names
                 if variables.get(name, "").lower() not in _NONE), None)  # fmt: skip


def is_given(container: Container, facts: Facts) -> bool:
    """Whether the vendor's runtime gives the container its cards and the driver's files."""
    wanted = facts.stack.container.runtime if facts.stack.container else ""
    return container.runtime == wanted != "" and asked(container, facts.device) is not None


def has_cards(container: Container, device: str) -> bool:
    """Whether cards are given one by one, as `--device`."""
    pattern = _CARD.get(device)
    return pattern is not None and any(pattern.fullmatch(path) for path in container.inside)


def cards(container: Container, facts: Facts) -> int | None:
    """How many cards the container has; None where that cannot be told."""
    pattern = _CARD.get(facts.device)
    own = [path for path in container.inside if pattern and pattern.fullmatch(path)]
    if own:
        return len(set(own))
    if is_given(container, facts) and (pair := asked(container, facts.device)):
        numbers = numbers_of(pair[1])
        return len(set(numbers)) if numbers else None
    if container.privileged and isinstance(facts.accelerators, list):
        return sum(card.target == facts.target for card in facts.accelerators) or None
    return None


def numbers_of(value: str) -> list[int] | None:
    """The ids of `0,1,3` and `0-3`; None for anything else, such as `all`."""
    numbers: list[int] = []
    for part in value.split(","):
        found = re.fullmatch(r" *(\d{1,4})(?: *- *(\d{1,4}))? *", part)
        if not found:
            return None
        numbers += range(int(found[1]), int(found[2] or found[1]) + 1)
    return numbers or None
