"""The versions on a machine against those that a release of its target pins, for a page."""

from __future__ import annotations

import re

import msgspec

from provision import versions
from provision.facts import ascend, ascend_driver, enflame
from provision.facts.installed import Comparison, Environment
from provision.facts.kernel import Kernel
from provision.facts.questions import Output
from provision.facts.snapshot import Facts, Unread


class Row(msgspec.Struct, frozen=True):
    """A part: the version that is pinned, and the one that was found (None: not known).

    `same` is None where the two cannot be compared.
    """

    name: str
    pinned: str
    found: str | None
    where: str = ""

    @property
    def same(self) -> bool | None:
        """Whether the one that was found is the one that is pinned."""
        if self.found is None or self.found == self.pinned:
            return None if self.found is None else True
        return versions.same_release(self.found, self.pinned)


def release(facts: Facts) -> str:
    """The release to compare with: the one that the environment is nearest to, else the default."""
    if (
        isinstance(facts.comparison, Comparison)
        and facts.comparison.release in facts.stack.releases
    ):
        return facts.comparison.release
    return facts.stack.default_release


def rows(facts: Facts) -> list[Row]:
    """The parts that the release pins, those outside of Python first."""
    chosen = facts.stack.releases[release(facts)]
    found = {name: _found(facts, name) for name in chosen.pins}
    made = [Row(name, pin, *found[name]) for name, pin in chosen.pins.items()]
    exact = [re.match(r"([\w.-]+)(?:\[.*\])?==([^,;]+)$", one)
             for one in (*chosen.framework, *chosen.paddlenlp)]  # fmt: skip
    there = facts.environment if isinstance(facts.environment, Environment) else None
    for match in filter(None, exact):
        version = there.packages.get(match[1].lower()) if there else None
        made.append(
            Row(match[1], match[2], version, there.site_packages if version and there else "")
        )
    return made


def _found(facts: Facts, name: str) -> tuple[str | None, str]:
    """The version of what no package index has, and where it was read."""
    outputs = [] if isinstance(facts.outputs, Unread) else facts.outputs
    if name == "driver":
        return _driver(facts, outputs) or (None, "")
    if name == "cann":
        folders = [] if isinstance(facts.folders, Unread) else facts.folders
        tool = ascend.in_force(ascend.toolkits(outputs), folders)
        return (tool.version, tool.output.source) if tool else (None, "")
    if name == "tops":
        told_by = [step.told_by for step in facts.stack.steps if step.told_by]
        tops = enflame.packages(outputs, told_by)
        return (enflame.release_of(tops[0][0]), tops[0][1].source) if tops else (None, "")
    there = facts.environment if isinstance(facts.environment, Environment) else None
    if name == "plugin" and there:
        return there.packages.get(f"paddle-custom-{facts.device}"), there.site_packages
    return None, ""


def _driver(facts: Facts, outputs: list[Output]) -> tuple[str, str] | None:
    """The driver of the target's cards."""
    if facts.device == "npu":
        return ascend_driver.version(outputs)
    kernel = facts.kernel if isinstance(facts.kernel, Kernel) else None
    return enflame.driver_version(kernel, outputs)
