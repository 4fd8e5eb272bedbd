"""`provision --undo`: removes what the tool made, newest first."""

from __future__ import annotations

import os
import re
import shutil
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

from provision import seal
from provision.errors import PaddockError
from provision.journal import Journal
from provision.orphans import MARK
from provision.paths import TEMPLATES
from provision.patience import to_its_end
from provision.process import Outcome, Processes
from provision.render import render
from provision.site import Site
from provision.stack import Step
from provision.steps import KINDS
from provision.steps.base import Context
from provision.steps.loaded import loaded
from provision.steps.removal import replaceable
from provision.stream import say
from provision.words import text


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
    record = site.state / "toolchain.packages"
    return record.read_text().split() if record.exists() else []


def host_steps(context: Context) -> list[str]:
    """The steps that have installed something which was not there before, newest first."""
    steps = reversed(context.stack.steps)
    return [step.name for step in steps if context.site.added(step.name).exists()]


def undo(context: Context, *, with_packages: bool) -> list[str]:
    """Remove the folders, and the packages when agreed; note each undone step in the journal.

    Returns why the machine has to be rebooted. The journal, the logs and the shared package cache
    stay. Raises PaddockError `step-failed` when the system's package manager or an uninstaller
    refuses, `undo-left` at the end where a version is still there.
    """
    site = context.site
    seal.lift(site)
    reboots, there = _undo_host(context) if with_packages else ([], [])
    for path in made(site):
        # Renamed first: a removal that is cut short leaves nothing that looks like an environment.
        doomed = path.with_name(f".{path.name}.removed-{os.getpid()}")
        path.rename(doomed)
    for left in remains(site):
        shutil.rmtree(left)
    journal = Journal(site.journal)
    for entry in reversed(journal.last().values()):
        if entry.event != "undone":
            journal.record(entry.step, "undone", entry.key)
    if there:
        raise PaddockError("undo-left", tuple(reboots), steps=", ".join(there))
    return reboots


def _undo_host(context: Context) -> tuple[list[str], list[str]]:
    """What was installed goes; why a reboot is needed after it, and what is there all the same."""
    undone, asked, left = set(), [], []
    added = host_steps(context)
    for step in reversed(context.stack.steps):
        kind = KINDS[step.kind]
        template = kind.template.replace(".sh.j2", ".undo.sh.j2")
        if not (TEMPLATES / template).is_file():
            continue
        outcome = _removed(step, render(template, kind.values(step, context)), context)
        if step.name not in added:
            continue
        package = context.stack.packages.get(step.package or "")
        if package and (there := replaceable(package, context)):
            left.append(f"{step.name} {there}")
            continue
        undone.add(step.name)
        if package and package.reboot and _says(package.reboot, outcome):
            asked.append(text("undo.asked", step=step.name))
    return [*_still_loaded(context, undone), *asked], left


def _removed(step: Step, script: str, context: Context) -> Outcome:
    """Run the script of a removal; a vendor's uninstaller is let finish, as its installer is.

    Raises PaddockError `step-failed`.
    """
    site, run = context.site, f"undo-{uuid.uuid4().hex[:8]}"
    name = step.name.replace("/", "-")
    log, file = site.logs / run / f"{name}.log", site.state / "scripts" / f"undo-{name}.sh"
    for path in (log, file):
        path.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(os.fsencode(script))
    processes, lasting = Processes(), step.name if KINDS[step.kind].leaves_halves else ""
    variables = {**os.environ, MARK: f"{run}/{step.name}"}
    outcome = to_its_end(
        lambda: processes.run(file, log, variables, lambda line: None, lasting),
        processes, lambda line: say(sys.stderr, f"  ! {line}"),
    )  # fmt: skip
    if outcome.status:
        raise PaddockError("step-failed", outcome.tail, step=f"{step.name} (undo)",
                           status=outcome.status, log=log)  # fmt: skip
    return outcome


def _says(pattern: str, outcome: Outcome) -> bool:
    """Whether the last lines match, whatever their case."""
    return any(re.search(pattern, line, re.IGNORECASE) for line in outcome.tail)


def _still_loaded(context: Context, undone: set[str]) -> Iterator[str]:
    """The modules of what was removed that the kernel has until it starts anew."""
    for step in context.stack.steps:
        if step.kind == "loaded" and undone & set(step.needs):
            yield from (text("undo.loaded", module=name) for name in loaded(step))
