"""Is the driver new enough for what the target's releases are documented with?"""

from __future__ import annotations

from checks.machine.finding import APART, Check, Evidence, Finding, known
from provision import versions
from provision.facts import ascend, ascend_driver
from provision.facts.snapshot import Facts


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    read = ascend_driver.version(outputs)
    pinned = [(name, one) for name, one in facts.stack.releases.items() if "driver" in one.pins]
    if read is None or not pinned or ascend.toolkits(outputs):
        return APART  # with a toolkit, driver-cann judges the two as they are
    version, where = read
    evidence = [Evidence(f"driver {version}", where)]
    if any(versions.compare(version, one.pins["driver"]) != -1 for _, one in pinned):
        return Finding("ok", evidence=evidence)
    name, release = pinned[0]
    values = {"driver": version, "wanted": release.pins["driver"], "release": name,
              "cann": release.pins.get("cann", "?")}  # fmt: skip
    return Finding("warning", "older", values, evidence, source=release.source)


CHECK = Check("driver-target", _run, needs=("driver-installed",), devices=("npu",))
