"""What several checks of CANN and of Paddle's plugins ask of the facts."""

from __future__ import annotations

from collections.abc import Iterable

from checks.finding import Evidence, UnreadError, known
from provision.facts import ascend, ascend_kernels
from provision.facts.ascend import Toolkit
from provision.facts.folders import Folder
from provision.facts.installed import Environment
from provision.facts.linkage import Linkage
from provision.facts.snapshot import Facts, Unread

# Whatever is built of it, it is installed as the folder `paddle`.
FRAMEWORKS = ("paddlepaddle", "paddlepaddle-gpu", "paddlepaddle-xpu", "paddlepaddle-dcu",
              "paddlepaddle-npu", "paddlepaddle-rocm", "paddlepaddle-cpu")  # fmt: skip


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
    """The generation of the Huawei cards; None where it is not known."""
    cards = facts.accelerators
    return None if isinstance(cards, Unread) else ascend_kernels.generation(cards)


def environment(facts: Facts) -> Environment | None:
    """The environment where it is there and known."""
    return None if isinstance(facts.environment, Unread) else facts.environment


def plugin(facts: Facts) -> tuple[str, str] | None:
    """Name and version of the installed plugin for the target's device type."""
    there = environment(facts)
    name = f"paddle-custom-{facts.device}"
    return (name, there.packages[name]) if there and name in there.packages else None


def frameworks(there: Environment) -> dict[str, str]:
    """The builds of Paddle in an environment, by name."""
    return {name: there.packages[name] for name in FRAMEWORKS if name in there.packages}


def paddle(facts: Facts) -> str | None:
    """The version of Paddle where exactly one build of it is installed."""
    there = environment(facts)
    builds = list(frameworks(there).values()) if there else []
    return builds[0] if len(builds) == 1 else None


def linkages(facts: Facts) -> list[Linkage]:
    """How the plugins would link, of those that are libraries for this machine at all.

    The others, and that there is none, are found by the check that loads them; that it could not
    be read is said by the check of the libraries.
    """
    linkage = [] if isinstance(facts.linkage, Unread) else facts.linkage or []
    return [one for one in linkage if not one.problem]


def names(values: Iterable[str], most: int = 5) -> str:
    """Names for a sentence, of many only the first ones."""
    values = list(values)
    more = f" ... ({len(values)})" if len(values) > most else ""
    return ", ".join(values[:most]) + more
