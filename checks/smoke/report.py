"""What the smoke tests found, and the rules by which a level passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from checks.smoke import torch_names
from checks.smoke.demands import Demand, demanded
from checks.smoke.operators import Ran, found
from checks.smoke.process import Ended
from checks.smoke.proof import counters, elsewhere, last, native_of, stand_in
from checks.smoke.settings import Level, Smoke
from provision.amounts import duration
from provision.facts.command import signal_name
from provision.words import text


class Check(msgspec.Struct, frozen=True):
    """One check: what it saw, or what was wrong. `seconds` is how long it took."""

    name: str
    passed: bool
    detail: str = ""
    seconds: float = 0.0
    error: str | None = None


class LevelReport(msgspec.Struct, frozen=True, kw_only=True):
    """One level. `device` is where its results were found, not what was asked for.

    `native` and `fallback` count kernels by name: those of the backend, and those of the CPU that
    Paddle ran in their place; without `counted` the plugin does not tell the first. `stand_in` says
    that no card computed, None where that is not so. `skipped` says what did not apply, and why.
    `log` has the last lines that a failing probe wrote, `series` what was measured step by step.
    `operators` tells of each fused operator that level `ops` has tried.
    Level `perf` counts fallbacks while it warms up only: Paddle's log would slow down the rest.
    """

    level: Level
    device: str
    passed: bool
    checks: tuple[Check, ...]
    seconds: float
    native: dict[str, int]
    fallback: dict[str, int]
    figures: dict[str, float]
    skipped: dict[str, str]
    log: tuple[str, ...]
    counted: bool = True
    stand_in: str | None = None
    series: dict[str, list[float]] = {}
    operators: tuple[Ran, ...] = ()


class SmokeReport(msgspec.Struct, frozen=True, kw_only=True):
    """All levels that ran. `stand_in` is theirs; it stands first wherever the report is told."""

    stand_in: str | None = None
    schema: str = "paddock/smoke/1"
    device: str
    passed: bool
    levels: tuple[LevelReport, ...]

    @property
    def failed(self) -> list[str]:
        """The names of the levels that failed."""
        return [one.level for one in self.levels if not one.passed]


def judge(
    level: Level,
    device: str,
    probes: Sequence[Ended],
    settings: Smoke | None = None,
    before: Sequence[Demand] = (),
) -> LevelReport:
    """A level's report from how its probes ended, after what was asked `before` they started.

    A level passes when all its checks passed, each probe ran to its end, every result was on the
    device, which its plugin's own counters confirm, and the figures are as `settings` demand.
    """
    checks = tuple(map(_asked, before))
    checks += tuple(check for ended in probes for check in all_checks(ended, device))
    native, fallback, places = Counter[str](), Counter[str](), Counter[str]()
    figures: dict[str, float] = {}
    series: dict[str, list[float]] = {}
    skipped: dict[str, str] = {}
    for ended in probes:
        native.update(native_of(ended.events))
        fallback.update(ended.fallback)
        places.update(last(ended.events, "proof").get("places", {}))
        figures |= {e["name"]: e["value"] for e in ended.events if e["event"] == "figure"}
        series |= {e["name"]: e["values"] for e in ended.events if e["event"] == "series"}
        skipped |= {e["name"]: e["reason"] for e in ended.events if e["event"] == "skipped"}
    said = next(filter(None, (stand_in(ended.events, device) for ended in probes)), None)
    if settings and all(check.passed for check in checks):  # else figures may be missing
        on_card = device == settings.device and said is None
        checks += tuple(map(_asked, demanded(level, settings, figures, series, on_card=on_card)))
    checks += tuple(_asked(one) for ended in probes for one in torch_names.registered(ended.events))
    passed = bool(checks) and all(check.passed for check in checks)
    return LevelReport(
        level=level, device=", ".join(sorted(places)), passed=passed, checks=checks,
        seconds=round(sum(ended.seconds for ended in probes), 3), native=dict(native),
        fallback=dict(fallback), figures=figures, skipped=skipped,
        log=() if passed else tuple(line for ended in probes for line in ended.log),
        counted=device == "cpu" or all(counters(one.events) is not None for one in probes),
        stand_in=said, series=series, operators=tuple(found(probes)),
    )  # fmt: skip


_OF_CHECKS = ("start", "check", "absent")


def _asked(demand: Demand) -> Check:
    """A demand as a check."""
    return Check(demand.name, demand.error is None, demand.detail, error=demand.error)


def all_checks(ended: Ended, device: str) -> list[Check]:
    """A probe's own checks, the one it died in, how it ended, and where its results were."""
    fields = Check.__struct_fields__
    done = [e for e in ended.events if e["event"] == "check"]
    checks = [Check(**{name: event[name] for name in fields}) for event in done]
    if error := ending(ended):
        last_one = next((e for e in reversed(ended.events) if e["event"] in _OF_CHECKS), {})
        name = last_one["name"] if last_one.get("event") == "start" else "end"
        checks.append(Check(name, passed=False, error=error))
    if done:
        error = elsewhere(ended.events, device)
        untold = counters(ended.events) is None and device != "cpu"
        detail = text("smoke.place.untold", device=device) if untold else device
        checks.append(Check("place", passed=error is None, detail=detail, error=error))
    return checks


def ending(ended: Ended) -> str | None:
    """What was wrong with how a probe ended; None when it reached its end and exited with 0."""
    if ended.status is None:
        return text("smoke.end.silent", time=duration(ended.limit))
    if ended.status < 0:
        return text("smoke.end.killed", signal=signal_name(-ended.status))
    if ended.status:
        return text("smoke.end.status", status=ended.status)
    finished = any(event["event"] == "end" for event in ended.events)
    return None if finished else text("smoke.end.no-result")
