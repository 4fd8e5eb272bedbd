"""Does CUSTOM_DEVICE_ROOT lead Paddle away from the installed plugins?"""

from __future__ import annotations

from pathlib import Path

from checks.machine.finding import Check, Evidence, Finding, State, known, ok
from provision.facts.installed import Environment
from provision.facts.plugin import Plugin
from provision.facts.snapshot import Facts

_SOURCE = "measured with paddlepaddle 3.0.0 to 3.3.1; paddle/base/core.py"


def _run(facts: Facts) -> Finding:
    setting = known(facts.settings).device_root
    if setting is None:
        return ok("CUSTOM_DEVICE_ROOT is not set", "variable")
    evidence = [Evidence(f"CUSTOM_DEVICE_ROOT={setting.shown}", "variable")]
    values = {"shown": setting.shown}
    if setting.problem:
        command = "unset CUSTOM_DEVICE_ROOT"
        return Finding("error", setting.problem, values, evidence, command, _SOURCE)
    environment = facts.environment
    if isinstance(environment, Environment) and environment.site_packages:
        own = Path(environment.site_packages, "paddle_custom_device")
        if Path(setting.shown) == own:
            return ok(evidence[0].line, "variable")
    plugin = facts.plugin
    # What is there instead may well be meant, as long as it loads.
    state: State = "warning"
    if isinstance(plugin, Plugin) and plugin.verdict != "loads":
        state = "error"
        evidence += [Evidence(line, plugin.where) for line in (plugin.line, *plugin.said)]
    return Finding(state, "replaces", values, evidence, "unset CUSTOM_DEVICE_ROOT", _SOURCE)


CHECK = Check("plugin-root", _run)
