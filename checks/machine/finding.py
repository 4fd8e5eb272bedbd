"""What a check says: a state, the evidence, and the values for its sentences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Literal, TypeVar

import msgspec

from provision.facts.snapshot import Facts, Unread
from provision.words import text

# `absent`: not there, and rightly so (nothing is provisioned yet). `follows`: a consequence of
# what another check found. `apart`: the question does not arise on this machine.
State = Literal["ok", "absent", "warning", "error", "unknown", "follows", "apart"]
T = TypeVar("T")


class UnreadError(Exception):
    """The fact that a check needs could not be read."""


class Evidence(msgspec.Struct, frozen=True):
    """A line that shows the finding, and where it came from."""

    line: str
    where: str


class Finding(msgspec.Struct, frozen=True):
    """The answer of one check.

    The sentences stand in the catalogue under `check.ID.CASE.what`, `.cause` and `.fix`; `values`
    fill them. `command` is what to type, "" where nothing helps by itself; `source` is where the
    knowledge comes from; `follows` names the check whose finding this one follows from. `safe`: the
    command may be run for the user, since it changes nothing outside of Paddock's own folders; it
    is `provision`, from the step `step` on ("" for the first) in `release` ("" for the default).
    """

    state: State
    case: str = "ok"
    values: dict[str, str] = {}
    evidence: list[Evidence] = []
    command: str = ""
    source: str = ""
    id: str = ""
    follows: str = ""
    safe: bool = False
    step: str = ""
    release: str = ""

    def part(self, name: str) -> str:
        """One sentence, `what`, `cause` or `fix`, in the user's language; "" for a good finding."""
        if self.state in ("ok", "follows", "apart"):
            return ""
        general = self.case in ("unread", "crashed", "unsent")
        key = f"check.{self.case}" if general else f"check.{self.id}.{self.case}"
        return text(f"{key}.{name}", title=text(f"check.{self.id}.title"), **self.values)


class Check(msgspec.Struct, frozen=True):
    """One check: its id, the checks whose findings explain its own, and the question itself.

    `devices` are Paddle's device types that the question is about; none means all.
    """

    id: str
    run: Callable[[Facts], Finding]
    needs: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()


APART = Finding("apart")


def ok(line: str, where: str) -> Finding:
    """A good finding with its evidence."""
    return Finding("ok", evidence=[Evidence(line, where)])


def known(fact: T | Unread) -> T:
    """The fact itself. Raises UnreadError when it could not be read."""
    if isinstance(fact, Unread):
        raise UnreadError(fact.reason)
    return fact


def present(fact: T | Unread | None) -> T:
    """A fact that is there. Raises UnreadError; another check says that it is not there."""
    value = known(fact)
    if value is None:
        raise UnreadError("not there")
    return value


def names(values: Iterable[str], most: int = 5) -> str:
    """Names for a sentence, of many only the first ones."""
    values = list(values)
    more = f" ... ({len(values)})" if len(values) > most else ""
    return ", ".join(values[:most]) + more


def moment(seconds: float) -> str:
    """A time (seconds since 1970) as every time zone writes it: `2026-11-29 20:50 UTC`."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def provision(target: str, *more: str) -> str:
    """The command that provisions a target."""
    return " ".join(["paddock provision --target", target, *more])


def mended(finding: Finding, facts: Facts, step: str = "") -> Finding:
    """A finding that is mended by making Paddock's own stack whole again, from a step on.

    It stays in the release that is there.
    """
    there = facts.comparison
    release = "" if there is None or isinstance(there, Unread) else there.release
    of = facts.stack
    if release not in of.releases or release == of.default_release:
        release = ""
    more = (*(("--release", release) if release else ()), *(("--from", step) if step else ()))
    command = provision(facts.target, *more)
    return msgspec.structs.replace(finding, command=command, safe=True, step=step, release=release)


def made_anew(finding: Finding, facts: Facts) -> Finding:
    """A finding that is mended by making the environment of Paddock's own stack from nothing."""
    step = next((one.name for one in facts.stack.steps if one.kind == "venv"), "")
    return mended(finding, facts, step)
