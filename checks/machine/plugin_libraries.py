"""Does the loader find every library that the device plugin asks for?"""

from __future__ import annotations

from checks.machine.environment import linkages
from checks.machine.finding import APART, Check, Evidence, Finding, present
from checks.machine.plugin_cann import is_ours
from provision.facts.linking.linkage import Needed
from provision.facts.snapshot import Facts

_SOURCE = "ELF: NEEDED; ld.so(8): the order in which the loader looks"


def _run(facts: Facts) -> Finding:
    present(facts.linkage)
    plugins = linkages(facts)
    if not plugins:
        return APART
    needed = [one for plugin in plugins for one in plugin.needed]
    # What belongs to CANN has a check of its own.
    own = [one for one in needed if facts.device != "npu" or not is_ours(one)]
    lost = [one for one in own if one.found is None]
    if lost:
        near = [path for one in lost for path in one.near]
        evidence = [*map(_evidence, lost), *(Evidence(path, "files") for path in near[:3])]
        values = {"name": lost[0].name, "of": lost[0].of, "product": lost[0].product or "?",
                  "near": near[0] if near else ""}  # fmt: skip
        case = "unlisted" if near else "product" if lost[0].product else "missing"
        return Finding("error", case, values, evidence, source=_SOURCE)
    if bad := [one for one in own if one.problem]:
        values = {"path": bad[0].found or bad[0].name, "problem": bad[0].problem}
        return Finding("error", "damaged", values, [*map(_evidence, bad)], source=_SOURCE)
    count = len({one.name for one in own})
    return Finding("ok", evidence=[Evidence(f"{count} libraries found", plugins[0].file)])


def _evidence(one: Needed) -> Evidence:
    """A library that is not in order, and the file that asks for it."""
    return Evidence(f"{one.name} => {one.problem or 'not found'}", one.of)


CHECK = Check(
    "plugin-libraries", _run, needs=("environment-python", "leftover-run", "gcu-packages")
)
