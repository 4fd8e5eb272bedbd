"""Is the driver new enough for what the target's releases are documented with?"""

from __future__ import annotations

from checks.finding import APART, Check, Evidence, Finding, known
from provision import versions
from provision.facts import ascend_driver
from provision.facts.outputs import found
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.facts.texts.versions import VersionFile


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    its = _version(outputs)
    pinned = [(name, one) for name, one in facts.stack.releases.items() if "driver" in one.pins]
    if its is None or not pinned or _has_toolkit(outputs):
        return APART  # with a toolkit, driver-cann judges the two as they are
    version, evidence = its
    if any(versions.compare(version, one.pins["driver"]) != -1 for _, one in pinned):
        return Finding("ok", evidence=[evidence])
    name, release = pinned[0]
    values = {"driver": version, "wanted": release.pins["driver"], "release": name,
              "cann": release.pins.get("cann", "?")}  # fmt: skip
    return Finding("warning", "older", values, [evidence], source=release.source)


def _version(outputs: list[Output]) -> tuple[str, Evidence] | None:
    """The driver that runs, else the one that is installed; None where neither is told."""
    shown, file = ascend_driver.table(outputs), ascend_driver.driver(outputs)
    if shown and shown[0].driver_version and versions.parse(shown[0].driver_version):
        line = ascend_driver.line_of(shown[1], "npu-smi", "Version")
        return shown[0].driver_version, Evidence(line or shown[0].driver_version, shown[1].source)
    if file and file[0].version:
        line = ascend_driver.line_of(file[1], "ersion=") or file[0].version
        return file[0].version, Evidence(line, file[1].source)
    return None


def _has_toolkit(outputs: list[Output]) -> bool:
    """Whether CANN is installed here."""
    files = (file for file, _ in found(outputs, VersionFile))
    return any("toolkit" in (file.package or "") for file in files)


CHECK = Check("driver-target", _run, needs=("driver-installed",), devices=("npu",))
