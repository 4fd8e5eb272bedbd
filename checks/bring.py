"""`provision` as a person meets it: nothing to do, a plan, a run, or an undo."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING

from provision import engine
from provision.amounts import duration
from provision.console import consent, show, show_json
from provision.errors import PaddockError
from provision.words import text

if TYPE_CHECKING:
    from checks.chain import Outcome


def provision(options: engine.Options, *, yes: bool, json: bool) -> int:
    """Bring the stack to the wanted state and prove it. Returns the exit status."""
    began = time.monotonic()
    steps = engine.holding(options)
    if steps is not None:
        return _nothing(options, steps, began, json=json)
    import msgspec

    from checks.chain import Face, carry_out

    face = Face.here(json=json, yes=yes)
    face.show(text("provision.title", target=options.target, env=options.site.env))
    outcome = carry_out(options, face)
    if not outcome.ran and outcome.smoke is None:
        return _nothing(options, outcome.count, began, outcome.stand_in, json=json)
    seconds = time.monotonic() - began
    if json:
        smoke = msgspec.to_builtins(outcome.smoke)
        show_json(summary_json(
            options.target, outcome.count, outcome.ran, smoke, seconds, outcome.stand_in
        ))  # fmt: skip
        return 0
    for line in _ending(options, outcome, duration(seconds)):
        show(line)
    return 0


def _ending(options: engine.Options, outcome: Outcome, took: str) -> Iterator[str]:
    """How a run ended that had something to do, and what can be typed next."""
    if outcome.stand_in:
        yield text("provision.stand-in", stand_in=outcome.stand_in)
    done = "provision.only" if options.only else "provision.done"
    yield text(done, time=took, log=options.site.logs)
    if not options.only and outcome.smoke is None:
        yield text("provision.unproved")
    for file in filter(os.path.exists, outcome.context.stack.settings):
        yield text("provision.settings", file=file)
    yield text("provision.next")


def summary_json(  # noqa: PLR0913, PLR0917 (one value a field)
    target: str, steps: int, ran: list[str], smoke: object, seconds: float, stand_in: str = ""
) -> dict[str, object]:
    """A run as JSON values: `smoke` is null where the tests had nothing new to prove, `stand_in`
    where nothing stood in for a card."""
    return {"stand_in": stand_in or None, "schema": "paddock/provision/1", "target": target,
            "changed": bool(ran), "steps": steps, "ran": ran, "smoke": smoke,
            "seconds": round(seconds, 3)}  # fmt: skip


def _nothing(
    options: engine.Options, steps: int, began: float, stand_in: str = "", *, json: bool
) -> int:
    """Say that everything holds."""
    seconds = time.monotonic() - began
    if json:
        show_json(summary_json(options.target, steps, [], None, seconds, stand_in))
    else:
        if stand_in:
            show(text("provision.stand-in", stand_in=stand_in))
        show(text("provision.nothing", count=steps, time=duration(seconds)))
    return 0


def dry_run(options: engine.Options, *, json: bool) -> int:
    """Show the plan and its commands; nothing is changed or written."""
    from provision.fetching import fetched
    from provision.plan import Wish, plan
    from provision.room import places
    from provision.show import commands, plan_json, sources, summary, table

    context = engine.prepare(options)
    planned = fetched(plan(context, Wish(options.begin, options.only)), context)
    rooms = places(context, planned)
    if json:
        show_json({**plan_json(context, planned), "room": [
            {"path": str(one.path), "bytes": one.bytes, "free": one.free} for one in rooms
        ]})  # fmt: skip
        return 0
    told = [one.told for one in rooms]
    for line in (summary(planned), *told, "", *table(planned), *sources(planned), "",
                 *commands(planned)):  # fmt: skip
        show(line)
    return 0


def undo(options: engine.Options, *, yes: bool, json: bool, dry_run: bool) -> int:
    """Remove what was made, or with `dry_run` only tell; system packages only with consent."""
    from provision import guard
    from provision import undo as undoing
    from provision.progress import progress

    site = options.site
    with nullcontext() if dry_run else guard.exclusive(site), guard.signals():
        if not dry_run:
            engine.tidy(site)
        begun = undoing.begun(site)
        if begun:
            progress(json=json).note(begun)
        context = engine.prepare(options)
        folders = undoing.made(site)
        packages = undoing.host_packages(site) + undoing.host_steps(context)
        agreed = bool(packages) and not dry_run and _agreed(packages, yes=yes)
        reboots = []
        if not dry_run:
            with progress(json=json) as shown:
                runner = engine.runner(context, options, shown)
                reboots = undoing.undo(runner, with_packages=agreed)
    if json:
        show_json({"schema": "paddock/undo/1", "target": options.target, "dry_run": dry_run,
                   "removed": [str(path) for path in folders],
                   "packages": packages if agreed or dry_run else [],
                   "reboot": reboots})  # fmt: skip
        return 0
    for path in folders:
        show(text("undo.would" if dry_run else "undo.removed", path=path))
    if packages:
        key = "undo.packages" if agreed else "undo.packages-kept"
        key = "undo.packages-would" if dry_run else key
        show(text(key, packages=" ".join(packages)))
    for line in reboots:
        show(text("undo.reboot", reason=line))
    show(text("undo.kept" if folders or packages or begun else "undo.nothing", path=site.state))
    return 0


def _agreed(packages: list[str], *, yes: bool) -> bool:
    """Whether the system packages may go; where nobody can be asked, they stay."""
    try:
        return consent(text("consent.undo", packages=" ".join(packages)), yes=yes)
    except PaddockError:
        return False
