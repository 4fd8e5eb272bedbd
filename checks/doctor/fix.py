"""`doctor --fix`: carries out what is declared safe, and says what it leaves to the user, and why.

Safe is what makes a stack of Paddock's own whole again, and changes nothing outside of its folders.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from checks.doctor.examine import Report
from checks.doctor.report import advice
from checks.machine.finding import Finding
from provision import engine
from provision.arguments import options
from provision.console import consent, show
from provision.errors import PaddockError
from provision.words import text


class Left(msgspec.Struct, frozen=True):
    """A finding that only the user can deal with. `reason` is a key below `fix.left.`."""

    finding: Finding
    reason: str


class Offer(msgspec.Struct, frozen=True):
    """What would be run ("" for nothing), the findings that it is for, and what is left."""

    command: str
    findings: list[Finding]
    left: list[Left]
    begin: str = ""
    release: str = ""


def offer(report: Report) -> Offer:
    """What can be done about the findings of an examination: one run, from the earliest step."""
    wrong = [one for one in report.findings if one.state in ("error", "warning")]
    safe = [one for one in wrong if one.safe]
    left = [Left(one, "command" if one.command else "none") for one in wrong if not one.safe]
    if not safe or not report.facts.stack.steps:
        return Offer("", [], [*(Left(one, "none") for one in safe), *left])
    order = [step.name for step in report.facts.stack.steps]
    begin = min((one.step for one in safe if one.step), key=order.index, default="")
    release = next((one.release for one in safe if one.release), "")
    chosen = options(report.facts.target, release, begin=begin)
    if _host_changes(chosen):
        return Offer("", [], [*(Left(one, "host") for one in safe), *left])
    words = ["paddock provision --target", report.facts.target]
    words += ["--release", release] if release else []
    words += ["--from", begin] if begin else []
    return Offer(" ".join(words), safe, left, begin, release)


def _host_changes(chosen: engine.Options) -> str:
    """What such a run would change outside of Paddock's folders; "" for nothing."""
    from provision.plan import Wish, host_changes, plan

    return host_changes(plan(engine.prepare(chosen), Wish(chosen.begin, chosen.only)))


def agreed(made: Offer, *, yes: bool) -> bool:
    """Whether it may be carried out. Raises PaddockError `fix-consent` without a terminal."""
    if yes:
        return True
    try:
        return consent(made.command, yes=False, ask="consent.fix")
    except PaddockError:
        raise PaddockError("fix-consent", command=made.command) from None


def carry_out(made: Offer, target: str, *, json: bool) -> None:
    """Run what was offered, as `provision` does; a run that would change the host is declined.

    Raises PaddockError as `provision` does.
    """
    from checks.chain import Face
    from checks.chain import carry_out as run
    from provision.progress import progress

    say = (lambda line="": None) if json else show
    run(options(target, made.release, begin=made.begin),
        Face(say, lambda: progress(json=json), lambda what: False))  # fmt: skip


def lines(made: Offer) -> Iterator[str]:
    """The offer for people."""
    if made.command:
        names = ", ".join(one.id for one in made.findings)
        yield text("fix.would", command=made.command, checks=names)
    else:
        yield text("fix.nothing")
    for one in made.left:
        reason = text(f"fix.left.{one.reason}")
        todo = one.finding.command or advice(one.finding)
        yield text("fix.left", id=one.finding.id, reason=reason, todo=todo)


def to_json(made: Offer, *, ran: bool) -> dict[str, object]:
    """The offer as JSON values, and whether it was carried out."""
    left = [{"id": one.finding.id, "command": one.finding.command, "reason": one.reason}
            for one in made.left]  # fmt: skip
    return {"command": made.command, "for": [one.id for one in made.findings], "ran": ran,
            "left": left}  # fmt: skip
