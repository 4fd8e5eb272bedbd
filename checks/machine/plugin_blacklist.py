"""Is CUSTOM_DEVICE_BLACK_LIST written so that Paddle understands it?"""

from __future__ import annotations

from checks.machine.finding import Check, Evidence, Finding, known, ok
from provision.facts.snapshot import Facts

_SOURCE = "measured with paddlepaddle 3.x: names separated by commas, unknown ones silently ignored"


def _run(facts: Facts) -> Finding:
    setting = known(facts.settings).black_list
    if setting is None:
        return ok("CUSTOM_DEVICE_BLACK_LIST is not set", "variable")
    evidence = [Evidence(f"CUSTOM_DEVICE_BLACK_LIST={setting.shown}", "variable")]
    if setting.problem:
        values = {"shown": setting.shown}
        return Finding("error", setting.problem, values, evidence, source=_SOURCE)
    return Finding("ok", evidence=evidence)


CHECK = Check("plugin-blacklist", _run)
