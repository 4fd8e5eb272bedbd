"""What a judge says of a run: reasons, each for or against it, and the verdict that they give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from checks.logs.telling import Spot
from provision.words import text

State = Literal["holds", "warning", "unknown", "failed"]
Outcome = Literal["passed", "unknown", "failed"]


class Reason(msgspec.Struct, frozen=True):
    """One thing that was looked at; its sentence is `judge.KEY`, the line it stands in `spot`."""

    state: State
    key: str
    values: Mapping[str, object] = {}
    spot: Spot | None = None

    @property
    def sentence(self) -> str:
        """It in the user's language."""
        return text(f"judge.{self.key}", **self.values)


class Cause(msgspec.Struct, frozen=True):
    """Why a run went wrong, as far as its log measures it; `rank` is "" where there is but one log.

    The sentences are `judge.cause.KEY.what` and `.do`.
    """

    key: str
    values: Mapping[str, object]
    spot: Spot | None
    rank: str = ""

    @property
    def what(self) -> str:
        """What happened, with the figures."""
        return text(f"judge.cause.{self.key}.what", **self.values)

    @property
    def remedy(self) -> str:
        """What to do."""
        return text(f"judge.cause.{self.key}.do", **self.values)


class Verdict(msgspec.Struct, frozen=True):
    """The verdict on a level of a target; `figures` are what was measured."""

    level: str
    target: str
    reasons: list[Reason]
    figures: dict[str, float | int | str]

    @property
    def outcome(self) -> Outcome:
        """Passed where every reason holds; a warning does not change that."""
        states = {one.state for one in self.reasons}
        if "failed" in states:
            return "failed"
        return "unknown" if "unknown" in states or "holds" not in states else "passed"


def holds(key: str, spot: Spot | None = None, /, **values: object) -> Reason:
    """A reason for the run."""
    return Reason("holds", key, values, spot)


def failed(key: str, spot: Spot | None = None, /, **values: object) -> Reason:
    """A reason against it."""
    return Reason("failed", key, values, spot)


def unknown(key: str, spot: Spot | None = None, /, **values: object) -> Reason:
    """What the log does not tell."""
    return Reason("unknown", key, values, spot)


def warning(key: str, spot: Spot | None = None, /, **values: object) -> Reason:
    """What to look at, though the result is right."""
    return Reason("warning", key, values, spot)
