"""Kind `debs`: a vendor's stack of Debian packages: its installer, then the packages in one go."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from provision import versions
from provision.facts import enflame
from provision.facts.texts.packages import Package as Deb
from provision.render import quote
from provision.stack import Step
from provision.steps.account import needs_root
from provision.steps.base import Context, Lack, NotSo
from provision.steps.removal import unless_noted
from provision.steps.vendor import Vendor, held, missing, notes, row, told
from provision.vendor import deps
from provision.vendor.rows import Package
from provision.words import text


class Debs(Vendor):
    """Satisfied when dpkg has each of them installed, and the one that tells the version of all is
    of the release; half-installed ones are healed. Nothing is replaced by what is older.
    """

    def change(self, step: Step, context: Context) -> str:
        """The commands, in short."""
        installer = super().change(step, context)
        return "; ".join(filter(None, (installer, f"dpkg -i {' '.join(step.debs)}")))

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """Those of the installer, and the files of the packages that there are."""
        _, *rows = every = _rows(step, context)
        files, debs = told(every, context, step), told(rows, context, step)
        there = _there(step)
        absent = [name for name in (*step.debs, step.told_by) if name and name not in there]
        removal = f"dpkg --purge {quote(absent)}" if absent else ""
        return {**super().values(step, context), "files": files,
                "debs": [one["used"] for one in debs], "packages": list(step.debs),
                "held": held(files, step, context),
                "removal": unless_noted(removal, step, context)}  # fmt: skip

    def verify(self, step: Step, context: Context) -> list[Path]:
        """Dpkg says `installed` of every one, and of no version before the pin."""
        there = _there(step)
        if absent := [name for name in step.debs if name not in there]:
            raise NotSo(", ".join(absent))
        version, pinned = _version(step, there), _pinned(step, context)
        if version and versions.compare(version, pinned) == -1:
            raise NotSo(f"{step.told_by} {version} < {pinned}")
        return []

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """Only root may install them, and all have to be there."""
        return needs_root() or missing(_rows(step, context), context)

    def newer(self, step: Step, context: Context) -> str:
        """A version that is neither the pin nor before it, or the one that dpkg does not tell."""
        there, pinned = _there(step), _pinned(step, context)
        version = _version(step, there)
        if not pinned or versions.same_release(version, pinned):
            return ""
        if version:
            return "" if versions.compare(version, pinned) == -1 else version
        return text("debs.untold", name=step.told_by) if {*step.debs} <= there.keys() else ""

    def removing(self, step: Step, context: Context) -> str:
        """The command that removes what dpkg has of them."""
        return f"dpkg --purge {quote(list(_there(step)))}"

    def note(self, step: Step, context: Context) -> str:
        """What there is to say of each file."""
        return "; ".join(line for one in _rows(step, context) for line in notes(one, context))


def _rows(step: Step, context: Context) -> list[Package]:
    """The installer's package, then the Debian ones."""
    return [row(step, context), *(context.stack.packages[name] for name in step.debs)]


def _there(step: Step) -> dict[str, str]:
    """Which of the packages dpkg has wholly installed, each with its version."""
    if not shutil.which("dpkg-query"):
        return {}
    names = [*step.debs, *([step.told_by] if step.told_by else [])]
    query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status} ${Version}\\n", *names]
    out = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    rows = (line.split() for line in out.splitlines())
    return {one[0]: one[2] for one in rows if one[1:2] == ["installed"]}


def _version(step: Step, there: Mapping[str, str]) -> str:
    """The maker's version of all of them; "" where dpkg does not tell it."""
    name = step.told_by or ""
    return enflame.release_of(Deb(name, there[name])) if name in there else ""


def _pinned(step: Step, context: Context) -> str:
    """The version that the release wants; "" for any."""
    return deps.known(context).get(row(step, context).pin, "") if step.told_by else ""
