"""Does CUSTOM_DEVICE_ROOT lead Paddle away from the installed plugins?"""

from __future__ import annotations

from pathlib import Path

from checks.finding import Check, Evidence, Finding, known, ok
from provision.facts.snapshot import Facts
from provision.site import Site

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
    packages = Site(facts.target).site_packages
    if packages and (packages / "paddle_custom_device").resolve() == Path(setting.shown).resolve():
        return ok(evidence[0].line, "variable")
    command = "unset CUSTOM_DEVICE_ROOT"
    return Finding("warning", "replaces", values, evidence, command, _SOURCE)


CHECK = Check("plugin-root", _run)
