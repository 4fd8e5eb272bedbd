"""What several checks ask of the facts: outputs that may be missing, containers, an answer."""

from __future__ import annotations

from provision.facts import ascend_driver
from provision.facts.questions import Output
from provision.facts.snapshot import Facts, Unread


def outputs(facts: Facts) -> list[Output]:
    """The outputs, none where they could not be collected: for checks that only add from them."""
    return [] if isinstance(facts.outputs, Unread) else facts.outputs


def in_container(facts: Facts) -> bool:
    """Whether this is a container, which sees all of the bus and only the cards that it got."""
    return not isinstance(facts.machine, Unread) and facts.machine.container is not None


def is_root(facts: Facts) -> bool:
    """Whether this user sees every file; others may not look into the driver's folders."""
    return isinstance(facts.accounts, Unread) or facts.accounts.uid == 0


def bus(facts: Facts) -> str:
    """Where the cards on the bus were read."""
    return "lspci" if facts.sent else "/sys/bus/pci/devices"


def npu_answers(facts: Facts) -> bool:
    """Whether npu-smi shows cards, so that driver, module and nodes must be in order."""
    return ascend_driver.table(outputs(facts)) is not None
