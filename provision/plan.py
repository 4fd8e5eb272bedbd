"""The order of the steps and the state of each: pending or not, with the reason."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from provision.errors import PaddockError, unknown_name
from provision.journal import CUT_SHORT, SMOKE, UNFINISHED, Entry, Journal
from provision.order import arranged
from provision.render import render
from provision.stack import Step
from provision.steps import KINDS
from provision.steps.base import Context, Kind, Lack, NotSo
from provision.words import catalogue, text

State = Literal["satisfied", "pending", "blocked", "skipped"]
HOLDS = ("satisfied", "skipped")  # nothing has to be done


@dataclass(frozen=True)
class Planned:
    """One step of a plan: what it would run, and whether and why it has to."""

    step: Step
    state: State
    reason: str
    script: str
    key: str
    lack: Lack | None = None
    """What it is blocked by."""
    change: str = ""
    """What it does to the system outside the user's own folders."""
    asks: str = ""
    """What holds otherwise than wanted, so that the person has to agree."""
    clearing: str = ""
    """The step, itself or one it needs, that will remove what dependent steps have made."""
    late: bool = False
    """Whether its files only come during the run, so that its script is made when it starts."""

    @property
    def name(self) -> str:
        """The step's name."""
        return self.step.name

    @property
    def kind(self) -> Kind:
        """How its kind works."""
        return KINDS[self.step.kind]


@dataclass(frozen=True)
class Wish:
    """What of the plan the user asked for."""

    begin: str | None = None
    only: tuple[str, ...] = ()

    def check(self, names: list[str]) -> None:
        """Raises PaddockError `unknown-step`. The proof can be asked for as steps can."""
        for name in (self.begin, *(one for one in self.only if one != SMOKE)):
            if name is not None and name not in names:
                raise unknown_name("unknown-step", name, names)


def plan(context: Context, wish: Wish = Wish()) -> list[Planned]:
    """Every step of the stack, in order, as the machine is now.

    With `wish.begin` that step and the later ones count as pending; with `wish.only` the others
    are left out. Raises PaddockError `unknown-step`, or `needs-step` when a step asked for alone
    needs one that does not hold.
    """
    wish.check([step.name for step in context.stack.steps])
    last = Journal(context.site.journal).last()
    planned: dict[str, Planned] = {}
    forced = False
    for step in arranged(context, last):
        forced = forced or step.name == wish.begin
        needs = [planned[name] for name in step.needs]
        planned[step.name] = _one(step, context, needs, last.get(step.name), forced)
    return _asked_for(planned, wish) if wish.only else list(planned.values())


def ancestors(context: Context, names: Iterable[str]) -> tuple[str, ...]:
    """These steps and all that they need, in the stack's order."""
    wanted = set(names)
    for step in reversed(context.stack.steps):
        if step.name in wanted:
            wanted |= set(step.needs)
    return tuple(step.name for step in context.stack.steps if step.name in wanted)


def _one(
    step: Step, context: Context, needs: list[Planned], entry: Entry | None, forced: bool
) -> Planned:
    kind = KINDS[step.kind]
    if skipped := kind.skips(step, context):
        return Planned(step, "skipped", skipped, "", _key("", context.folder, (), ()))
    script = render(kind.template, kind.values(step, context))
    own = kind.identity(step, context, script)
    key = _key(own, context.folder, kind.inputs(step, context), needs)
    reason = text("reason.asked") if forced else _reason(step, context, entry, key, needs)
    clearing = step.name if kind.clears else next((n.clearing for n in needs if n.clearing), "")
    if reason is None:
        asks = kind.asks(step, context)
        reason = text("reason.newer", version=asks) if asks else text("reason.holds")
        return Planned(step, "satisfied", reason, script, key, asks=asks)
    if not clearing and (newer := kind.newer(step, context)):
        how = kind.removing(step, context)
        reason = text("reason.stays", version=newer, reason=reason, how=how)
        return Planned(step, "satisfied", reason, script, key, asks=newer)
    to_do = Planned(step, "pending", reason, script, key, change=kind.change(step, context),
                    clearing=clearing)  # fmt: skip
    return _hindered(to_do, context, needs)


def renewed(one: Planned, context: Context) -> Planned:
    """A step of a plan as it is now that what it was waiting for is here.

    Raises PaddockError where it lacks something all the same, or has got what must not be used.
    """
    if lack := one.kind.blocked(one.step, context):
        raise PaddockError(
            lack.code, lack.details, step=one.name, remedy=lack.remedy, file=lack.remedy,
            files=lack.remedy, folder=context.deps or "DIR", target=context.stack.target,
        )  # fmt: skip
    return replace(one, script=render(one.kind.template, one.kind.values(one.step, context)))


def _hindered(to_do: Planned, context: Context, needs: list[Planned]) -> Planned:
    """The step as blocked, by itself or by one that it needs, or as it is with its note."""
    if lack := to_do.kind.blocked(to_do.step, context):
        own = f"reason.{lack.code}"
        reason = text(own if own in catalogue() else "reason.blocked", remedy=lack.remedy)
        return replace(to_do, state="blocked", reason=reason, lack=lack)
    if need := next((one for one in needs if one.lack and one.lack.later), None):
        reason = text("reason.waits", step=need.name)
        lack = Lack(need.lack.code, need.name, later=True) if need.lack else None
        return replace(to_do, state="blocked", reason=reason, lack=lack)
    note = to_do.kind.note(to_do.step, context)
    return replace(to_do, reason=f"{to_do.reason}; {note}") if note else to_do


def _key(script: str, folder: Path, inputs: Iterable[Path], needs: Iterable[Planned]) -> str:
    """What decides a step's result: its commands, its files, and the steps before it.

    Where the target's folder lies does not: a checkout that was moved redoes nothing.
    """
    digest = hashlib.sha256(os.fsencode(script.replace(str(folder), "")))
    for path in inputs:
        content = hashlib.sha256(path.read_bytes()).digest()
        digest.update(b"\0" + os.fsencode(path.relative_to(folder)) + b"\0" + content)
    for need in needs:
        digest.update(need.key.encode())
    return digest.hexdigest()


def _reason(
    step: Step, context: Context, entry: Entry | None, key: str, needs: list[Planned]
) -> str | None:
    """Why a step has to run; None when it holds."""
    if reason := _after(step, needs):
        return reason
    broken = UNFINISHED if KINDS[step.kind].leaves_halves else CUT_SHORT
    cut_short = entry is not None and entry.event in broken
    if KINDS[step.kind].by_machine and not cut_short:
        return _missing(step, context)
    if entry is None or entry.event == "undone":
        return text("reason.never")
    if entry.event != "done":
        return text(f"reason.{entry.event}")
    if gone := next((w.path for w in entry.witnesses if not w.holds()), None):
        return text("reason.gone", path=gone)
    return None if entry.key == key else text("reason.changed")


def _after(step: Step, needs: list[Planned]) -> str | None:
    """Why a step has to run since one that it needs does."""
    if clearing := next((need.clearing for need in needs if need.clearing), None):
        return text("reason.cleared", step=clearing)
    if KINDS[step.kind].follows and (need := next((one for one in needs if one.change), None)):
        return text("reason.follows", step=need.name)
    return None


def _missing(step: Step, context: Context) -> str | None:
    """What the host has holds, whoever installed it: this step needs no record of this tool."""
    try:
        KINDS[step.kind].verify(step, context)
    except NotSo as missing:
        return text("reason.missing", what=missing)
    return None


def _asked_for(planned: Mapping[str, Planned], wish: Wish) -> list[Planned]:
    """The steps asked for; one that stands outside and is needed must hold."""
    chosen = [planned[name] for name in planned if name in wish.only]
    for one in chosen:
        for name in one.step.needs if one.state != "skipped" else ():
            if name not in wish.only and planned[name].state not in HOLDS:
                raise PaddockError("needs-step", step=one.name, needs=name)
    return chosen


def host_changes(steps: Collection[Planned]) -> str:
    """What the pending steps do to the system, for which consent is needed; "" for nothing."""
    changes = [f"{one.name} ({one.change})" for one in steps
               if one.state == "pending" and one.change]  # fmt: skip
    kept = [f"{one.name} ({one.reason})" for one in steps if one.asks]
    return ", ".join([*changes, *kept])
