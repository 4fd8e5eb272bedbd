"""Are Paddle and its device plugin of versions that go together, and is there one Paddle only?"""

from __future__ import annotations

from checks.machine.cann import generation
from checks.machine.environment import FRAMEWORKS, frameworks, plugin
from checks.machine.finding import APART, Check, Evidence, Finding, State, present
from provision import pairs, versions
from provision.facts.plugin import Plugin
from provision.facts.snapshot import Facts

_KINDS = {"npu": "paddle+plugin+cann", "gcu": "paddle+plugin+tops+driver"}
_SOURCE = "https://github.com/PaddlePaddle/Paddle/issues/74020, /57071"
_BUILT = "0.0.0"  # what a plugin calls itself that was built without PADDLE_VERSION


def _run(facts: Facts) -> Finding:
    there = present(facts.environment)
    builds = frameworks(there)
    evidence = [Evidence(f"{name} {version}", there.python) for name, version in builds.items()]
    if len(builds) > 1:
        values = {"one": evidence[0].line, "other": evidence[1].line}
        unwanted = [name for name in builds if name != FRAMEWORKS[0]]
        command = f"{there.python} -m pip uninstall {' '.join(unwanted)}"
        return Finding("error", "two", values, evidence, command, _SOURCE)
    found = plugin(facts)
    if found is None or not builds:
        return APART
    (framework,) = builds.values()
    evidence.append(Evidence(f"{found[0]} {found[1]}", there.python))
    known = _known(facts, framework, found[1])
    if known == "fine":
        return Finding("ok", evidence=evidence)
    # Where it loads all the same, somebody has built one for the other.
    loads = isinstance(facts.plugin, Plugin) and facts.plugin.verdict == "loads"
    state: State = "warning" if loads else "error"
    values = {"paddle": framework, "name": found[0], "plugin": found[1]}
    return Finding(state, "differ", values, evidence, source=_SOURCE)


def _known(facts: Facts, paddle: str, version: str) -> str:
    """`fine` for versions that go together or of which that is not known, else `differ`."""
    verdict = pairs.judge(_KINDS[facts.device], {"paddle": paddle, "plugin": version},
                          generation(facts) if facts.device == "npu" else None)  # fmt: skip
    listed = verdict.state in ("documented", "observed") and not verdict.silent
    same = versions.same_release(paddle, version)
    built = versions.begins(version, _BUILT) or versions.parse(version) is None
    return "fine" if listed or same in (True, None) or built else "differ"


CHECK = Check("plugin-pair", _run, needs=("environment-python",), devices=("npu", "gcu"))
