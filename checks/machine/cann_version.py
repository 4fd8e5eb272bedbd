"""Is the CANN in force one that Paddle's plugin is known to work with?"""

from __future__ import annotations

from checks.machine import documented
from checks.machine.cann import generation, shown, toolkit
from checks.machine.environment import plugin
from checks.machine.finding import Check, Evidence, Finding
from provision import pairs, versions
from provision.facts.snapshot import Facts

_KIND = "paddle+plugin+cann"


def _run(facts: Facts) -> Finding:
    tool = toolkit(facts)
    found = plugin(facts)
    if found is None:
        return _without_plugin(facts, tool.version, shown(tool))
    evidence = [shown(tool), Evidence(f"{found[0]} {found[1]}", "environment")]
    rows = documented.naming(_KIND, "plugin", found[1])
    given = {"plugin": found[1], "cann": tool.version}
    verdict = pairs.judge(_KIND, given, generation(facts))
    if verdict.state in ("documented", "observed"):
        return Finding("ok", evidence=evidence)
    listed = ", ".join(documented.all_of(rows, "cann")) or "-"
    values = {"cann": tool.version, "plugin": found[1], "known": listed}
    if verdict.state == "fails" and verdict.row:
        return Finding("error", "fails", values, evidence, source=verdict.row.source)
    if not rows:  # nothing is known about this plugin, so nothing against this CANN
        return Finding("ok", evidence=evidence)
    return Finding("warning", "unlisted", values, evidence, source=rows[0].source)


def _without_plugin(facts: Facts, version: str, evidence: Evidence) -> Finding:
    """A CANN for which there is a release may be the right one."""
    pins = {name: one.pins["cann"] for name, one in facts.stack.releases.items()
            if "cann" in one.pins}  # fmt: skip
    if not pins or any(versions.same_release(version, pin) for pin in pins.values()):
        return Finding("ok", evidence=[evidence])
    values = {"cann": version, "known": ", ".join(dict.fromkeys(pins.values()))}
    release = facts.stack.releases[next(iter(pins))]
    return Finding("warning", "other", values, [evidence], source=release.source)


CHECK = Check("cann-version", _run, needs=("cann-installed", "cann-several"), devices=("npu",))
