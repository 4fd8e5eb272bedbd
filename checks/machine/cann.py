"""What several checks of CANN ask of the facts."""

from __future__ import annotations

from checks.machine import here, told_cards
from checks.machine.finding import Evidence, UnreadError, known
from provision.facts import ascend, ascend_kernels
from provision.facts.ascend import Toolkit
from provision.facts.folders import Folder
from provision.facts.snapshot import Facts, Unread


def folders(facts: Facts) -> list[Folder]:
    """The folders of the variables in force; none where they are not known."""
    return [] if isinstance(facts.folders, Unread) else facts.folders


def toolkit(facts: Facts) -> Toolkit:
    """The CANN toolkit in force. Raises UnreadError where none is or where that is not known."""
    tool = ascend.in_force(ascend.toolkits(known(facts.outputs)), folders(facts))
    if tool is None:
        raise UnreadError("several CANN toolkits, and no variable leads to one of them")
    return tool


def shown(tool: Toolkit) -> Evidence:
    """A toolkit as evidence."""
    return Evidence(f"CANN {tool.version} in {tool.root}", tool.output.source)


def source_command(tool: Toolkit) -> str:
    """What puts a toolkit in force; "" where that is not known."""
    script = ascend.settings(tool)
    return f"source {script}" if script else ""


def generation(facts: Facts) -> str | None:
    """The generation of the Huawei cards; None where it is not known or not one.

    Where nobody looked at the bus, it is that of the cards that npu-smi shows.
    """
    if not isinstance(facts.accelerators, Unread):
        return ascend_kernels.generation(facts.accelerators)
    told = told_cards.models(here.outputs(facts), "npu")
    return told.pop() if len(told) == 1 else None
