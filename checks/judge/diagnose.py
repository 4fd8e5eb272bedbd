"""`smoke --diagnose`: the verdict on logs, the measured causes, and the known failures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec

from checks import explain
from checks.judge.causes import causes
from checks.judge.levels import all_levels
from checks.judge.ranks import first_failed
from checks.judge.reading import Reading
from checks.judge.verdict import Cause, Outcome, Reason, Verdict
from checks.judge.which import logs_in, verdicts
from checks.logs.show import cut, lines, name_of, problems
from checks.logs.telling import Spot
from provision.arguments import one_of
from provision.console import show, show_json
from provision.errors import SMOKE, SOUND, UNKNOWN, USAGE, PaddockError
from provision.words import catalogue, text

SCHEMA = "paddock/diagnosis/1"
_STATUS: dict[Outcome, int] = {"passed": SOUND, "failed": SMOKE, "unknown": UNKNOWN}
_SIGN = {"holds": " ", "warning": "!", "unknown": "?", "failed": "x"}


class Diagnosis(msgspec.Struct, frozen=True):
    """What was read, the verdicts, and the causes where a verdict is not that it passed."""

    reading: Reading
    verdicts: list[Verdict]
    causes: list[Cause]

    @property
    def outcome(self) -> Outcome:
        """The worst verdict; without any, failed where an error is known."""
        found = {one.outcome for one in self.verdicts}
        if "failed" in found or (not found and (self.causes or self.reading.finds)):
            return "failed"
        return "passed" if found == {"passed"} else "unknown"

    @property
    def status(self) -> int:
        """The exit status: 2 where a log could not be read to its end."""
        if any(read.problem for read in self.reading.read):
            return USAGE
        return _STATUS[self.outcome]


def diagnose(name: str, target: str = "", *, json: bool) -> int:
    """Judge a log, or the logs of a folder. Returns the exit status.

    Raises PaddockError `bad-file`, `no-zstd`, `bad-option` for a target without such levels.
    """
    one_of("--target", target, ("", *all_levels()))
    logs, lost = logs_in(name)
    found = look(logs, target, lost=lost)
    if json:
        show_json(to_json(found))
    else:
        for line in report(found):
            show(line)
    return found.status


def look(
    names: Sequence[str], target: str = "", status: int | None = None,
    lost: Mapping[str, str] = MappingProxyType({}),
) -> Diagnosis:  # fmt: skip
    """Read these logs of one run and judge them; `status` is its exit status where it is known.

    `lost` is what is known to be unreadable -> why. Of several logs one that cannot be opened is
    no more than that. Raises PaddockError `bad-file`, `no-zstd`.
    """
    reading = Reading()
    for name in names:
        try:
            reading.log(name)
        except PaddockError as error:
            if len(names) == 1:
                raise
            reading.unread(name, str(error.values.get("reason", error.part("what"))))
    for name, reason in lost.items():
        reading.unread(name, reason)
    found = verdicts(reading.logs, target, status)
    good = bool(found) and all(one.outcome == "passed" for one in found)
    if first := first_failed(reading.logs):
        reading.telling = first.log.telling
    return Diagnosis(reading, found, [] if good else causes(reading.logs))


def report(found: Diagnosis) -> Iterator[str]:
    """A diagnosis for a person."""
    for verdict in found.verdicts:
        yield from verdict_lines(verdict, found.reading)
        yield ""
    if not found.verdicts:
        yield text("judge.no-level")
    for cause in found.causes:
        yield f"x  {cut(cause.what)}{_where(cause.spot, found.reading)}"
        yield f"     {text('doctor.fix')}  {cause.remedy}"
    told = found.reading.finds or found.outcome != "passed"
    yield from (lines if told else problems)(found.reading)


def verdict_lines(verdict: Verdict, reading: Reading | None = None) -> Iterator[str]:
    """A verdict for a person: first what speaks against the run, then what holds."""
    values = {"level": verdict.level, "target": verdict.target}
    yield text(f"judge.verdict.{verdict.outcome}", **values)
    if verdict.figures:
        yield "     " + ", ".join(f"{name} {value}" for name, value in verdict.figures.items())
    order = list(_SIGN)
    for one in sorted(verdict.reasons, key=lambda one: -order.index(one.state)):
        yield f"  {_SIGN[one.state]}  {cut(one.sentence)}{_where(one.spot, reading)}"
        if one.state != "holds" and (remedy := remedy_of(one)):
            yield f"     {text('doctor.fix')}  {remedy}"


def remedy_of(reason: Reason) -> str:
    """What to do about a reason; "" where the sentence says all."""
    key = f"judge.{reason.key}.do"
    return text(key, **reason.values) if key in catalogue() else ""


def _where(spot: Spot | None, reading: Reading | None) -> str:
    if spot is None or reading is None:
        return ""
    return f"  ({name_of(reading.read[spot.log].name)}:{reading.number(spot)})"


def to_json(found: Diagnosis) -> dict[str, object]:
    """A diagnosis as JSON values, schema `paddock/diagnosis/1`."""
    return {
        "schema": SCHEMA,
        "status": found.status,
        "outcome": found.outcome,
        "verdicts": [verdict_json(one, found.reading) for one in found.verdicts],
        "causes": [_cause_json(one, found.reading) for one in found.causes],
        "explain": explain.to_json(found.reading),
    }


def verdict_json(verdict: Verdict, reading: Reading) -> dict[str, object]:
    """A verdict as JSON values; JSON has no NaN, so a figure that is none stands as text."""
    reasons = [
        {"state": one.state, "key": one.key, "text": one.sentence, "do": remedy_of(one),
         **_place(one.spot, reading)}
        for one in verdict.reasons
    ]  # fmt: skip
    figures = {name: _finite(value) for name, value in verdict.figures.items()}
    return {"level": verdict.level, "target": verdict.target, "outcome": verdict.outcome,
            "figures": figures, "reasons": reasons}  # fmt: skip


def _cause_json(cause: Cause, reading: Reading) -> dict[str, object]:
    return {"key": cause.key, "what": cause.what, "do": cause.remedy, "rank": cause.rank,
            "values": cause.values, **_place(cause.spot, reading)}  # fmt: skip


def _place(spot: Spot | None, reading: Reading) -> dict[str, object]:
    if spot is None:
        return {}
    return {"log": reading.read[spot.log].name, "line": reading.number(spot)}


def _finite(value: float | int | str) -> float | int | str:
    is_number = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return value if is_number else str(value)
