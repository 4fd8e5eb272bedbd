"""Does the device plugin load into Paddle, and if not, why?"""

from __future__ import annotations

import msgspec

from checks.machine.finding import Check, Evidence, Finding, State, mended, moment, present
from provision.facts.plugin import Plugin
from provision.facts.snapshot import Facts

_SOURCE = "measured: plugins built for and run with paddlepaddle 2.6.2 to 3.3.1"


def _run(facts: Facts) -> Finding:
    plugin = present(facts.plugin)
    evidence = [Evidence(plugin.line, _where(plugin))]
    if plugin.verdict == "loads":
        return Finding("ok", evidence=evidence)
    evidence += [Evidence(line, "the plugin itself") for line in plugin.said]
    evidence += [Evidence(hint, "ELF symbols") for hint in plugin.hints]
    values = {"folder": plugin.folder, "device": facts.device}
    state: State = "unknown" if plugin.verdict == "unknown" else "error"
    finding = Finding(state, plugin.verdict, values, evidence, source=_SOURCE)
    return _with_command(finding, facts, plugin)


def _where(plugin: Plugin) -> str:
    """Where the evidence came from, and when, where it is remembered."""
    if plugin.proved is None:
        return plugin.where
    return f"{plugin.where}, {moment(plugin.proved)}; nothing has changed since"


def _with_command(finding: Finding, facts: Facts, plugin: Plugin) -> Finding:
    """Make again what is at fault, Paddle itself or the plugin, in an environment of Paddock's."""
    wanted = "packages" if plugin.verdict == "paddle" else "wheel"
    steps = (step for step in facts.stack.steps if step.kind == wanted and step.lock != "build")
    step = next(steps, None)
    if facts.foreign:
        build = f"paddock build-ops --backend {facts.target}"
        command = build if step and wanted == "wheel" else ""
        return msgspec.structs.replace(finding, command=command)
    made = mended(finding, facts, step.name if step else "")
    return msgspec.structs.replace(made, safe=finding.state == "error")


CHECK = Check(
    "plugin-loads",
    _run,
    needs=(
        "environment-python", "leftover-run", "stack-framework", "plugin-root", "plugin-pair",
        "plugin-tag", "plugin-libraries", "plugin-libc", "plugin-abi", "plugin-cann",
    ),
)  # fmt: skip
