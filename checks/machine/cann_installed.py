"""Is a CANN toolkit there?"""

from __future__ import annotations

from checks.machine.cann import folders, shown
from checks.machine.environment import environment
from checks.machine.finding import Check, Evidence, Finding, UnreadError, known
from provision.facts import ascend
from provision.facts.snapshot import Facts

_SOURCE = "CANN documentation, installation; PaddlePaddle documentation, hardware_support/npu"


def _run(facts: Facts) -> Finding:
    tools = ascend.toolkits(known(facts.outputs))
    if tools:
        return Finding("ok", evidence=[shown(tool) for tool in tools])
    if facts.sent:
        raise UnreadError("no version file of a CANN toolkit")
    named = [one for one in folders(facts) if one.variable in ascend.HOMES and one.real]
    if named:
        evidence = [Evidence(f"{one.variable}={one.path}", "variable") for one in named]
        return Finding("unknown", "no-file", {"path": named[0].path}, evidence, source=_SOURCE)
    evidence = [Evidence("no ascend_toolkit_install.info", "/usr/local/Ascend, $HOME/Ascend")]
    # On a host whose containers bring CANN along it is rightly not there.
    if there := environment(facts):
        evidence.append(Evidence(f"Python {there.version or '?'}", there.python))
        return Finding("error", "none", {"plugin": "paddle-custom-npu"}, evidence, source=_SOURCE)
    return Finding("absent", "elsewhere", {}, evidence, source=_SOURCE)


CHECK = Check("cann-installed", _run, devices=("npu",))
