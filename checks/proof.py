"""The proof of a stack at the end of `provision`: the smoke tests, once for each state."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from checks.smoke.settings import settings_of
from provision import engine
from provision.errors import PaddockError
from provision.journal import SMOKE, Entry, Journal
from provision.progress import Progress
from provision.steps.base import Context

if TYPE_CHECKING:
    from checks.smoke.run import SmokeReport
    from checks.smoke.settings import Smoke
    from provision.run import Runner


def demanded(context: Context, options: engine.Options) -> Smoke | None:
    """What the smoke tests demand; None for steps alone, or a target without such tests."""
    steps_alone = options.only and SMOKE not in options.only
    if steps_alone or (context.stack.packages and not (context.folder / "smoke.toml").exists()):
        return None
    return settings_of(context.folder)


def stand_in(context: Context) -> str:
    """What the last smoke test says of a stand-in for the card; "" for none."""
    entry = Journal(context.site.journal).last().get(SMOKE)
    return entry.stand_in if entry else ""


def once(runner: Runner, show: Callable[[str], None], settings: Smoke) -> SmokeReport | None:
    """Run the levels that prove a stack, unless they passed on just this state.

    Raises PaddockError `not-provisioned` where there is no environment.
    """
    from checks.runs.telling import note
    from checks.smoke.run import run_smoke
    from checks.smoke.sourced import sourced

    context = runner.context
    if not context.site.python.exists():
        raise PaddockError("not-provisioned", target=context.stack.target, env=context.site.env)
    journal = Journal(context.site.journal)
    entries = journal.last()
    last = entries.pop(SMOKE, None)
    key = _key(settings, entries.values())
    if last and last.event == "done" and last.key == key:
        return None
    variables = sourced(runner.variables, context.stack.settings)
    journal.record(SMOKE, "start", key, run=runner.settings.run)
    report = run_smoke(
        context.site.python, context.stack.device, settings,
        variables, show, settings.proof or None, partial(_watched, runner.progress),
    )  # fmt: skip
    said = report.stand_in or ""
    journal.record(SMOKE, "done" if report.passed else "failed", key, stand_in=said)
    for line in note(context.stack, context.folder, report):
        show(f"  {line}")
    return report


def _key(settings: Smoke, done: Iterable[Entry]) -> str:
    """The state that is proved: with the times, since what was done again is proved again."""
    state = [(one.step, one.key, one.time) for one in done]
    return hashlib.sha256(repr([settings, state]).encode()).hexdigest()


@contextlib.contextmanager
def _watched(progress: Progress, level: str) -> Iterator[None]:
    """Show a level while it runs; how it ended is told by its own lines."""
    progress.started(f"smoke/{level}")
    yield
    progress.over(f"smoke/{level}")


def verdict(context: Context, report: SmokeReport | None) -> None:
    """Raises PaddockError `smoke-failed`, `smoke-known` for a report with a failed level."""
    if report and not report.passed:
        from checks.known import smoke_failed

        error = smoke_failed(report, context.stack.target)
        error.more = {"smoke": msgspec.to_builtins(report)}
        raise error
