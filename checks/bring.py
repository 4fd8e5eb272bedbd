"""`provision` as a person meets it: nothing to do, a plan, a run, or an undo."""

from __future__ import annotations

import time

from provision import engine
from provision.console import consent, show, show_json
from provision.progress import duration
from provision.words import text


def provision(options: engine.Options, *, yes: bool, json: bool) -> int:
    """Bring the stack to the wanted state and prove it. Returns the exit status."""
    began = time.monotonic()
    steps = engine.holding(options)
    if steps is not None:
        return _nothing(options, steps, began, json=json)
    from checks.chain import Face, carry_out
    from provision.progress import progress

    say = (lambda line="": None) if json else show
    say(text("provision.title", target=options.target, env=options.site.env))
    face = Face(say, lambda: progress(json=json), lambda what: consent(what, yes=yes))
    outcome = carry_out(options, face)
    if not outcome.ran and outcome.smoke is None:
        return _nothing(options, len(outcome.planned), began, json=json)
    seconds = time.monotonic() - began
    if json:
        show_json(outcome.to_json(seconds))
    done = "provision.only" if options.only else "provision.done"
    say(text(done, time=duration(seconds), log=options.site.logs))
    say(text("provision.next"))
    return 0


def _nothing(options: engine.Options, steps: int, began: float, *, json: bool) -> int:
    """Say that everything holds."""
    seconds = time.monotonic() - began
    if json:
        show_json({"schema": "paddock/provision/1", "target": options.target, "changed": False,
                   "steps": steps, "ran": [], "seconds": round(seconds, 3)})  # fmt: skip
    else:
        show(text("provision.nothing", count=steps, time=duration(seconds)))
    return 0


def dry_run(options: engine.Options, *, json: bool) -> int:
    """Show the plan and its commands; nothing is changed or written."""
    from provision.plan import Wish, plan
    from provision.show import commands, plan_json, summary, table

    context = engine.prepare(options)
    planned = plan(context, Wish(options.begin, options.only))
    if json:
        show_json(plan_json(context, planned))
        return 0
    for line in (summary(planned), "", *table(planned), "", *commands(planned)):
        show(line)
    return 0


def undo(options: engine.Options, *, yes: bool, json: bool) -> int:
    """Remove what was made; system packages only with consent."""
    from provision import guard
    from provision import undo as undoing

    with guard.exclusive(options.site), guard.storage(), guard.signals():
        engine.tidy(options.site)
        context = engine.prepare(options)
        folders = undoing.made(options.site)
        packages = undoing.host_packages(options.site)
        question = text("consent.undo", packages=" ".join(packages))
        agreed = bool(packages) and consent(question, yes=yes)
        undoing.undo(context, with_packages=agreed)
    if json:
        show_json({"schema": "paddock/undo/1", "target": options.target,
                   "removed": [str(path) for path in folders],
                   "packages": packages if agreed else []})  # fmt: skip
        return 0
    for path in folders:
        show(text("undo.removed", path=path))
    if packages:
        key = "undo.packages" if agreed else "undo.packages-kept"
        show(text(key, packages=" ".join(packages)))
    show(text("undo.kept", path=options.site.state))
    return 0
