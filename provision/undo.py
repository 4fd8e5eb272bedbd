"""`provision --undo`: removes what the tool made, newest first."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from provision import seal
from provision.errors import PaddockError
from provision.journal import Entry, Journal
from provision.patience import to_its_end
from provision.process import Outcome
from provision.progress import as_step
from provision.render import render
from provision.run import Runner
from provision.site import Site
from provision.stack import Step
from provision.steps import KINDS
from provision.steps.base import Context
from provision.steps.loaded import loaded
from provision.steps.removal import replaceable
from provision.words import text

ASKS_FOR_REBOOT = "paddock: it asks for a reboot"  # as `templates/steps/heard.sh.j2` says it


def made(site: Site) -> list[Path]:
    """The folders that would be removed, those that exist."""
    return [path for path in site.made if path.exists()]


def remains(site: Site) -> list[Path]:
    """What a killed run left beside the folders: one half made, or one half removed."""
    patterns = ("{}.new", ".{}.removed-*")
    return [
        left
        for path in site.made
        for pattern in patterns
        for left in path.parent.glob(pattern.format(path.name))
    ]


def host_packages(site: Site) -> list[str]:
    """The system packages that the toolchain step had added."""
    return site.toolchain.read_text().split() if site.toolchain.exists() else []


def host_steps(context: Context) -> list[str]:
    """The steps that have installed something which was not there before, newest first."""
    steps = reversed(context.stack.steps)
    return [step.name for step in steps if context.site.added(step.name).exists()]


def begun(site: Site) -> str:
    """The steps whose undo was begun and has not ended, as a sentence; "" for none."""
    last = Journal(site.journal).last().values()
    steps = [entry.step for entry in last if entry.event == "removing"]
    return text("undo.begun", steps=text("plan.comma").join(steps)) if steps else ""


def undo(runner: Runner, *, with_packages: bool) -> list[str]:
    """Remove the folders, and from the system what the steps have added when that is agreed.

    The journal says of each step that its removal was begun, and that it has ended. Returns why
    the machine has to be rebooted. The journal, the logs and the shared package cache stay. Raises
    PaddockError `step-failed` or a nearer class when the system's package manager or an uninstaller
    refuses, `undo-left` at the end where a version is still there.
    """
    context, site = runner.context, runner.context.site
    journal = Journal(site.journal)
    seal.lift(site)
    work = partial(_undo_host, runner, journal)
    reboots, there = (
        to_its_end(work, runner.processes, runner.progress.note) if with_packages else ([], [])
    )
    gone = [entry for entry in reversed(journal.last().values()) if _goes(entry, context)]
    for entry in gone:
        journal.record(entry.step, "removing", entry.key)
    for path in made(site):
        # Renamed first: a removal that is cut short leaves nothing that looks like an environment.
        doomed = path.with_name(f".{path.name}.removed-{os.getpid()}")
        path.rename(doomed)
    for left in remains(site):
        shutil.rmtree(left)
    for entry in gone:
        journal.record(entry.step, "undone", entry.key)
    if there:
        raise PaddockError("undo-left", tuple(reboots), steps=", ".join(there))
    return reboots


def _goes(entry: Entry, context: Context) -> bool:
    """Whether nothing of a step is left once the folders are gone.

    What it has added to the system stays where that was not agreed, and an installation that was
    not this tool's, or has failed, is none the less. A removal that was cut short after its last
    command has nothing left to do.
    """
    step = next((one for one in context.stack.steps if one.name == entry.step), None)
    if entry.event == "undone" or (step and _has_added(step, context)):
        return False
    return step is None or not KINDS[step.kind].leaves_halves or entry.event == "removing"


def _has_added(step: Step, context: Context) -> bool:
    """Whether a note says that the step has added something to the system."""
    site = context.site
    own = {"toolchain": [site.toolchain, site.toolchain.with_suffix(".packages.before")]}
    return any(note.exists() for note in own.get(step.kind, [site.added(step.name)]))


def _undo_host(runner: Runner, journal: Journal) -> tuple[list[str], list[str]]:
    """What was installed goes; why a reboot is needed after it, and what is there all the same."""
    context, last = runner.context, journal.last()
    undone, asked, left = set(), [], []
    for step in reversed(context.stack.steps):
        if not _has_added(step, context):
            continue
        key = last[step.name].key if step.name in last else ""
        journal.record(step.name, "removing", key, run=runner.settings.run,
                       log=str(runner.log(step.name)))  # fmt: skip
        with as_step(runner.progress, step.name):
            outcome = _removed(step, runner)
        journal.record(step.name, "undone", key)
        package = context.stack.packages.get(step.package or "")
        if package and (there := replaceable(package, context)):
            left.append(f"{step.name} {there}")
            continue
        undone.add(step.name)
        if ASKS_FOR_REBOOT in outcome.tail:
            asked.append(text("undo.asked", step=step.name))
    return [*_still_loaded(context, undone), *asked], left


def _removed(step: Step, runner: Runner) -> Outcome:
    """Run the script of a removal. Raises PaddockError `step-failed` or a nearer class, Stopped."""
    kind = KINDS[step.kind]
    template = kind.template.replace(".sh.j2", ".undo.sh.j2")
    outcome = runner.script(step, render(template, kind.values(step, runner.context)))
    if outcome.status:
        raise runner.error(step, outcome, f"{step.name} (undo)")
    return outcome


def _still_loaded(context: Context, undone: set[str]) -> Iterator[str]:
    """The modules of what was removed that the kernel has until it starts anew."""
    for step in context.stack.steps:
        if step.kind == "loaded" and undone & set(step.needs):
            yield from (text("undo.loaded", module=name) for name in loaded(step))
