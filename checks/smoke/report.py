"""What the smoke tests found, and the rules by which a level passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from checks.smoke.process import Ended, Event
from checks.smoke.settings import Level
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
    Paddle ran in their place. `skipped` says what did not apply, and why. `log` has the last lines
    that a failing probe wrote.
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


class SmokeReport(msgspec.Struct, frozen=True, kw_only=True):
    """All levels that ran."""

    schema: str = "paddock/smoke/1"
    device: str
    passed: bool
    levels: tuple[LevelReport, ...]

    @property
    def failed(self) -> list[str]:
        """The names of the levels that failed."""
        return [one.level for one in self.levels if not one.passed]


def judge(level: Level, device: str, probes: Sequence[Ended]) -> LevelReport:
    """A level's report from how its probes ended.

    A level passes when all its checks passed, each probe ran to its end, and every result was on
    the device, which its plugin's own counters confirm.
    """
    checks = tuple(check for ended in probes for check in all_checks(ended, device))
    native, fallback, places = Counter[str](), Counter[str](), Counter[str]()
    figures: dict[str, float] = {}
    skipped: dict[str, str] = {}
    for ended in probes:
        native.update(native_of(ended.events))
        fallback.update(ended.fallback)
        places.update(last(ended.events, "proof").get("places", {}))
        figures |= {e["name"]: e["value"] for e in ended.events if e["event"] == "figure"}
        skipped |= {e["name"]: e["reason"] for e in ended.events if e["event"] == "skipped"}
    passed = bool(checks) and all(check.passed for check in checks)
    return LevelReport(
        level=level, device=", ".join(sorted(places)), passed=passed, checks=checks,
        seconds=round(sum(ended.seconds for ended in probes), 3), native=dict(native),
        fallback=dict(fallback), figures=figures, skipped=skipped,
        log=() if passed else tuple(line for ended in probes for line in ended.log),
    )  # fmt: skip


def all_checks(ended: Ended, device: str) -> list[Check]:
    """A probe's own checks, the one it died in, how it ended, and where its results were."""
    fields = Check.__struct_fields__
    done = [e for e in ended.events if e["event"] == "check"]
    checks = [Check(**{name: event[name] for name in fields}) for event in done]
    if error := ending(ended):
        started = [e["name"] for e in ended.events if e["event"] == "start"]
        name = started[-1] if len(started) > len(done) else "end"
        checks.append(Check(name, passed=False, error=error))
    if done:
        error = elsewhere(ended.events, device)
        checks.append(Check("place", passed=error is None, detail=device, error=error))
    return checks


def ending(ended: Ended) -> str | None:
    """What was wrong with how a probe ended; None when it reached its end and exited with 0."""
    if ended.status is None:
        return text("smoke.end.silent", seconds=f"{ended.limit:g}")
    if ended.status < 0:
        return text("smoke.end.killed", signal=signal_name(-ended.status))
    if ended.status:
        return text("smoke.end.status", status=ended.status)
    finished = any(event["event"] == "end" for event in ended.events)
    return None if finished else text("smoke.end.no-result")


def elsewhere(events: Sequence[Event], device: str) -> str | None:
    """Why it is not proven that a probe ran on the device; None when it is.

    Proof are the places of its results and, but for the CPU, copies in both directions that the
    device's plugin has counted meanwhile.
    """
    begin, proof = last(events, "begin"), last(events, "proof")
    places: dict[str, int] = proof.get("places", {})
    strays = [place for place in places if place.partition(":")[0] != device]
    if strays or not places:
        found = ", ".join(strays) or text("smoke.nowhere")
        return text("smoke.place.elsewhere", places=found, device=device)
    if device == "cpu":
        return None
    before, after = begin.get("counters", {}), proof.get("counters", {})
    for way in ("h2d", "d2h"):
        if copies(after, way) <= copies(before, way):
            why = after.get("unavailable") or text("smoke.place.no-copy")
            return text("smoke.place.unproven", device=device, way=way, why=why)
    return None


def copies(counters: Mapping[str, Any], way: str) -> int:
    """How many copies a plugin has counted in one direction."""
    return int(counters.get("copies", {}).get(way, {}).get("count", 0))


def native_of(events: Sequence[Event]) -> Counter[str]:
    """The backend's kernels that ran: those its plugin counted, and its fused operators."""
    before = last(events, "begin").get("counters", {}).get("kernels", {})
    after = last(events, "proof").get("counters", {}).get("kernels", {})
    found = Counter({name: n - before.get(name, 0) for name, n in after.items()})
    for event in events:
        if event["event"] == "ran":
            found.update(event["kernels"])
    return +found


def last(events: Sequence[Event], kind: str) -> Event:
    """The last event of a kind, or an empty one."""
    return next((event for event in reversed(events) if event["event"] == kind), {})
