"""`provision --undo`: removes what the tool made, newest first."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

from provision import seal
from provision.errors import PaddockError
from provision.journal import Journal
from provision.paths import TEMPLATES
from provision.render import render
from provision.site import Site
from provision.steps import KINDS
from provision.steps.base import Context


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


def undo(context: Context, *, with_packages: bool) -> None:
    """Remove the folders, and the packages when agreed; note each undone step in the journal.

    The journal, the logs and the shared package cache stay. Raises PaddockError `step-failed`
    when the system's package manager refuses.
    """
    site = context.site
    seal.lift(site)
    if with_packages:
        _undo_host(context)
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


def _undo_host(context: Context) -> None:
    for step in reversed(context.stack.steps):
        kind = KINDS[step.kind]
        template = kind.template.replace(".sh.j2", ".undo.sh.j2")
        if not (TEMPLATES / template).is_file():
            continue
        script = render(template, kind.values(step, context))
        log = context.site.logs / f"undo-{time.strftime('%Y%m%d-%H%M%S')}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as file:
            status = subprocess.run(
                ["/bin/sh", "-euc", script], stdout=file, stderr=subprocess.STDOUT, check=False
            ).returncode
        if status:
            lines = tuple(log.read_text(errors="replace").splitlines()[-20:])
            raise PaddockError(
                "step-failed", lines, step=f"{step.name} (undo)", status=status, log=log
            )
