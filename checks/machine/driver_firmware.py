"""Do driver and firmware go together, by the ranges that their version files name?"""

from __future__ import annotations

from checks.machine import here
from checks.machine.finding import APART, Check, Evidence, Finding, UnreadError, known
from checks.machine.lines import line_of
from provision import pairs
from provision.facts import ascend_driver
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.facts.texts.versions import VersionFile

_FILE = "/usr/local/Ascend/firmware/version.info"
_SOURCE = "hicann/driver, dcmi_get_device_compatibility, and the two version files"


def _run(facts: Facts) -> Finding:
    outputs = known(facts.outputs)
    driver, firmware = ascend_driver.driver(outputs), ascend_driver.firmware(outputs)
    if driver is None or not driver[0].version:
        return APART  # then there is nothing to compare; driver-installed tells of that
    if firmware is None or not firmware[0].version:
        return _without(facts, driver)
    evidence = _evidence(*driver) + _evidence(*firmware)
    fits = ascend_driver.fits(outputs)
    values = {
        "driver": driver[0].version, "firmware": firmware[0].version,
        "wanted": _ranges(driver[0]), "drivers": _ranges(firmware[0]),
    }  # fmt: skip
    if fits is False:
        return Finding("error", "apart", values, evidence, "npu-smi info -t board -i 0", _SOURCE)
    if fits or _seen(driver[0].version, firmware[0].version):
        return Finding("ok", evidence=evidence)
    return Finding("unknown", "open", values, evidence, source=_SOURCE)


def _without(facts: Facts, driver: tuple[VersionFile, Output]) -> Finding:
    """No version file of a firmware. A container rightly has none."""
    outputs = known(facts.outputs)
    if here.in_container(facts):
        return APART
    if facts.sent or not here.is_root(facts):  # it may be there all the same
        raise UnreadError(_FILE)
    evidence = [*_evidence(*driver), Evidence("not there", _FILE)]
    if closed := ascend_driver.unreadable(outputs, "/firmware/version.info"):
        return Finding("unknown", "closed", {}, [Evidence(closed.text, closed.source)])
    values = {"driver": driver[0].version or ""}
    return Finding("warning", "absent", values, evidence, "npu-smi info -t board -i 0", _SOURCE)


def _seen(driver: str, firmware: str) -> bool:
    """Whether the two were seen together."""
    verdict = pairs.judge("driver+firmware", {"driver": driver, "firmware": firmware})
    return verdict.state in ("documented", "observed")


def _ranges(file: VersionFile) -> str:
    """`7.0.0 - 7.1.99`, several joined by commas."""
    return ", ".join(dict.fromkeys(f"{low.rstrip('.')} - {high.rstrip('.')}"
                                   for low, high in file.ranges)) or "?"  # fmt: skip


def _evidence(file: VersionFile, output: Output) -> list[Evidence]:
    """The lines of version and ranges."""
    lines = [line_of(output, word) for word in ("Version=", "compatible_version_fw",
                                                             "compatible_version_drv")]  # fmt: skip
    found = [Evidence(line, output.source) for line in lines if line]
    return found or [Evidence(f"version {file.version}", output.source)]


CHECK = Check("driver-firmware", _run, needs=("driver-installed",), devices=("npu",))
