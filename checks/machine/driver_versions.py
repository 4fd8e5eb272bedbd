"""Do npu-smi, the driver that runs, and the driver's version file tell of one release?"""

from __future__ import annotations

from checks.machine import here, lines
from checks.machine.finding import APART, Check, Evidence, Finding, known
from provision import versions
from provision.facts import ascend_driver
from provision.facts.snapshot import Facts

_SOURCE = "recorded outputs of npu-smi: `npu-smi TOOL  Version: DRIVER` are two versions"
_FAMILY = 2  # numbers that tool and driver of one release share


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    shown, file = ascend_driver.table(outputs), ascend_driver.driver(outputs)
    if not shown or versions.parse(shown[0].driver_version or "") is None:
        return APART  # masked, or no answer: npu-tool tells of that
    table, output = shown
    running = table.driver_version or ""
    banner = lines.line_of(output, "npu-smi", "Version") or f"driver {running}"
    evidence = [Evidence(banner, output.source)]
    if file and file[0].version:
        evidence.append(lines.version(*file))
        if versions.same_release(file[0].version, running) is False:
            values = {"running": running, "file": file[0].version}
            case = "mounted" if here.in_container(facts) else "reboot"
            command = "" if case == "mounted" else "reboot"
            return Finding("warning", case, values, evidence, command, _SOURCE)
    tool = table.tool_version or ""
    family = ".".join(running.split(".")[:_FAMILY])
    if versions.parse(family) and versions.begins(tool, family) is False:
        values = {"tool": tool, "running": running}
        return Finding("warning", "tool", values, evidence, "npu-smi -v", _SOURCE)
    return Finding("ok", evidence=evidence)


CHECK = Check("driver-versions", _run, needs=("driver-installed", "npu-tool"), devices=("npu",))
