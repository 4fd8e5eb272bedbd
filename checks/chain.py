"""The whole way of `provision`: carry the plan out, then prove the result by the smoke tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from checks import proof
from provision import engine, guard, room, seal, undo
from provision.console import consent, show
from provision.errors import PaddockError
from provision.fetching import fetched
from provision.journal import UNFINISHED, Journal
from provision.lock import unlocked
from provision.network import hidden
from provision.plan import HOLDS, Planned, Wish, host_changes, plan
from provision.progress import Progress, progress
from provision.show import summary
from provision.steps.base import Context, Lack
from provision.vendor import kept, licences

if TYPE_CHECKING:
    from checks.smoke.run import SmokeReport
    from provision.run import Runner


@dataclass(frozen=True)
class Face:
    """How a run talks to the person: shows lines, shows progress, asks before the host changes."""

    show: Callable[[str], None]
    progress: Callable[[], Progress]
    consent: Callable[[str], bool]

    @classmethod
    def here(cls, *, json: bool, yes: bool) -> Face:
        """At this terminal; with `json` standard output stays free for the document."""
        silent = (lambda _: None) if json else show
        return cls(silent, lambda: progress(json=json), lambda what: consent(what, yes=yes))


@dataclass(frozen=True)
class Outcome:
    """The plan as it was found, and the smoke report; None where smoke had nothing to do.

    `stand_in` says that what proved the stack was no card, also where that was in an earlier run.
    """

    context: Context
    planned: list[Planned]
    smoke: SmokeReport | None
    stand_in: str = ""

    @property
    def count(self) -> int:
        """The number of steps that this stack has; a skipped one is none."""
        return sum(one.state != "skipped" for one in self.planned)

    @property
    def ran(self) -> list[str]:
        """The names of the steps that had to run."""
        return [one.name for one in self.planned if one.state == "pending"]


def carry_out(options: engine.Options, face: Face) -> Outcome:
    """Run what is pending; then, for a whole stack, the smoke tests unless they hold already.

    Raises PaddockError: `busy`, `consent-needed`, `declined`, what a step meets, `smoke-failed`.
    """
    with guard.exclusive(options.site), guard.signals():
        engine.tidy(options.site)
        if begun := undo.begun(options.site):
            face.progress().note(begun)
        context = engine.prepare(options)
        planned = plan(context, Wish(options.begin, options.only))
        settings = proof.demanded(context, options)
        work = fetched(planned, context)
        face.show(summary(work))
        _permitted(context, planned, face)
        _note_healed(context, planned)
        for line in licences.accept(options.site, options.licences, options.folder):
            face.show(line)
        with face.progress() as shown:
            runner = engine.runner(context, options, shown)
            if any(one.state not in HOLDS for one in planned):
                seal.lift(options.site)
                _execute(runner, work)
                _put_papers(context)
            _told_later(planned, runner, options)
            report = proof.once(runner, face.show, settings) if settings else None
        proof.verdict(context, report)
        stand_in = proof.stand_in(context) if settings else ""
        if not options.only and not stand_in:  # a seal would not tell of it
            engine.put_seal(context, options, planned)
        return Outcome(context, planned, report, stand_in)


def _note_healed(context: Context, planned: Sequence[Planned]) -> None:
    """A step that did not end well and holds now, by a reboot or by hand, is no unfinished one."""
    journal = Journal(context.site.journal)
    last = journal.last()
    for one in planned:
        event = last[one.name].event if one.name in last else "done"
        if one.state == "satisfied" and event in UNFINISHED:
            journal.record(one.name, "done", one.key)


def _execute(runner: Runner, planned: list[Planned]) -> None:
    """Run the pending steps; the error of one that failed names its cause where that is known."""
    try:
        runner.execute(planned)
    except PaddockError as error:
        from checks.known import explained

        raise explained(error) from None


def _put_papers(context: Context) -> None:
    """How it was made, and what is in it, beside each wheel of the target."""
    from provision.papers.making import of_step, put

    for step in context.stack.steps:
        if step.kind == "wheel":
            for wheel in (context.site.wheels / step.name).glob("*.whl"):
                put(wheel, partial(of_step, step, context))


def _permitted(context: Context, planned: Sequence[Planned], face: Face) -> None:
    """Nothing is blocked for good, and the person agrees where the host changes."""
    for one in planned:
        if one.lack and not one.lack.later:
            raise _lacking(one.name, one.lack)
    room.check(context, planned)
    what = host_changes(planned)
    if what and not face.consent(what):
        raise PaddockError("declined", what=what)
    if versions := {one.name: one.asks for one in planned if one.asks}:
        kept.agree(context.site, versions)


def _told_later(planned: Sequence[Planned], runner: Runner, options: engine.Options) -> None:
    """Raise what was put off until the rest was done: packages that are missing, a reboot."""
    lacks = [one.lack for one in planned if one.lack and one.lack.details]
    if lacks:
        details = tuple(dict.fromkeys(line for lack in lacks for line in lack.details))
        details += tuple(error.part("what") for error in runner.postponed)
        files = ", ".join(lack.remedy for lack in lacks)
        folder = options.deps or hidden(options.server) or "DIR"
        raise PaddockError(
            "package-missing", details, files=files, folder=folder, target=options.target
        )
    if runner.postponed:
        raise runner.postponed[0]
    for one in planned:
        if one.lack:
            known = unlocked(runner.context.stack, runner.context.release)
            own = known if one.lack.code == "stack-part" else None
            raise own or _lacking(one.name, one.lack)


def _lacking(name: str, lack: Lack) -> PaddockError:
    """The error for a step that cannot run."""
    return PaddockError(lack.code, step=name, remedy=lack.remedy, file=lack.remedy)
