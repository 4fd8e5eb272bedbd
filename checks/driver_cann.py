"""Is the driver new enough for the CANN in force?"""

from __future__ import annotations

from collections.abc import Iterable

from checks.cann import generation, shown, toolkit
from checks.finding import Check, Evidence, Finding, State, UnreadError, known
from provision import pairs, versions
from provision.facts import ascend
from provision.facts.snapshot import Facts

_KIND = "driver+cann"
_CODES = "https://github.com/PaddlePaddle/Paddle/issues/68865 (507033), /72458 (507008)"


def _run(facts: Facts) -> Finding:
    tool = toolkit(facts)
    read = ascend.driver_version(known(facts.outputs))
    if read is None:
        raise UnreadError("no version of the driver")
    driver, where = read
    evidence = [Evidence(f"driver {driver}", where), shown(tool)]
    given = {"driver": driver, "cann": tool.version}
    verdict = pairs.judge(_KIND, given, generation(facts))
    rows = _rows(tool.version, generation(facts))
    listed = list(dict.fromkeys(one for row in rows for one in row.versions["driver"]))
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


def _rows(cann: str, generation: str | None) -> list[pairs.Row]:
    """What goes together with a version of CANN, for this generation of cards."""
    return [row for row in pairs.rows() if row.kind == _KIND and row.state != "fails"
            and generation in (None, row.generation or generation)
            and any(_is(cann, one) for one in row.versions["cann"])]  # fmt: skip


def _is(version: str, listed: str) -> bool:
    """Whether a version is the listed one; `9.0.x` is all that begins so."""
    if listed.endswith(".x"):
        return bool(versions.begins(version, listed[:-2]))
    return bool(versions.same_release(version, listed))


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
