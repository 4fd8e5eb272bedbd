"""What several checks ask of the environment: its builds of Paddle, its plugin, how that links."""

from __future__ import annotations

from provision.facts.installed import Environment
from provision.facts.linking.linkage import Linkage
from provision.facts.snapshot import Facts, Unread

# Whatever is built of it, it is installed as the folder `paddle`.
FRAMEWORKS = ("paddlepaddle", "paddlepaddle-gpu", "paddlepaddle-xpu", "paddlepaddle-dcu",
              "paddlepaddle-npu", "paddlepaddle-rocm", "paddlepaddle-cpu")  # fmt: skip


def environment(facts: Facts) -> Environment | None:
    """The environment where it is there and known."""
    return None if isinstance(facts.environment, Unread) else facts.environment


def plugin(facts: Facts) -> tuple[str, str] | None:
    """Name and version of the installed plugin for the target's device type."""
    there = environment(facts)
    packages = there.packages if there else {}
    name = f"paddle-custom-{facts.device}"
    return (name, packages[name]) if name in packages else None


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
