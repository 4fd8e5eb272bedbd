"""Is the driver new enough for the CANN in force?"""

from __future__ import annotations

from collections.abc import Iterable

from checks.machine import documented
from checks.machine.cann import generation, shown, toolkit
from checks.machine.finding import Check, Evidence, Finding, State, UnreadError, known
from provision import pairs, versions
from provision.facts import ascend_driver
from provision.facts.snapshot import Facts

_KIND = "driver+cann"
_CODES = "https://github.com/PaddlePaddle/Paddle/issues/68865 (507033), /72458 (507008)"


def _run(facts: Facts) -> Finding:
    tool = toolkit(facts)
    read = ascend_driver.version(known(facts.outputs))
    if read is None:
        raise UnreadError("no version of the driver")
    driver, where = read
    evidence = [Evidence(f"driver {driver}", where), shown(tool)]
    given = {"driver": driver, "cann": tool.version}
    verdict = pairs.judge(_KIND, given, generation(facts))
    rows = documented.naming(_KIND, "cann", tool.version, generation(facts))
    listed = documented.all_of(rows, "driver")
    values = {"driver": driver, "cann": tool.version, "known": ", ".join(listed) or "-"}
    if verdict.state == "fails" and verdict.row:
        return Finding("error", "fails", values, evidence, source=verdict.row.source)
    if verdict.state == "older":
        return Finding("error", "older", values, evidence, source=f"{rows[0].source}; {_CODES}")
    if verdict.state == "unlisted" and _is_below(driver, listed):
        # Versions begin with the year; no list of Huawei's reaches back into an earlier one.
        state: State = "error" if _is_below(_year(driver), map(_year, listed)) else "warning"
        return Finding(state, "below", values, evidence, source=f"{rows[0].source}; {_CODES}")
    return Finding("ok", evidence=evidence)


def _is_below(driver: str, listed: Iterable[str]) -> bool:
    """Whether a driver is older than every one that is known to go together with a CANN."""
    sides = {versions.compare(driver, one.removesuffix(".x")) for one in listed}
    return sides == {-1}


def _year(version: str) -> str:
    return version.partition(".")[0]


CHECK = Check(
    "driver-cann",
    _run,
    needs=("driver-installed", "cann-installed", "cann-several"),
    devices=("npu",),
)
