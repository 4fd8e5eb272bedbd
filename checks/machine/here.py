"""What several checks ask of the facts: outputs that may be missing, containers, an answer."""

from __future__ import annotations

from provision.facts import ascend_driver
from provision.facts.kernel import Kernel
from provision.facts.nodes import Node
from provision.facts.pci import Device
from provision.facts.questions import Output
from provision.facts.snapshot import Facts, Unread


def outputs(facts: Facts) -> list[Output]:
    """The outputs, none where they could not be collected: for checks that only add from them."""
    return [] if isinstance(facts.outputs, Unread) else facts.outputs


def nodes(facts: Facts) -> list[Node]:
    """The device nodes, none where they could not be read."""
    return [] if isinstance(facts.nodes, Unread) else facts.nodes


def cards(facts: Facts) -> list[Device]:
    """The accelerators on the bus, none where it could not be read."""
    return [] if isinstance(facts.accelerators, Unread) else facts.accelerators


def kernel(facts: Facts) -> Kernel | None:
    """The kernel and its modules, None where they could not be read."""
    return None if isinstance(facts.kernel, Unread) else facts.kernel


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
