"""Kind `debs`: a vendor's stack of Debian packages: its installer, then the packages in one go."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from provision.render import quote
from provision.stack import Step
from provision.steps.account import needs_root
from provision.steps.base import Context, Lack, NotSo
from provision.steps.vendor import Vendor, held, missing, notes, row, told, unless_noted
from provision.vendor.rows import Package


class Debs(Vendor):
    """Satisfied when dpkg has each of them installed; half-installed ones are healed."""

    def change(self, step: Step, context: Context) -> str:
        """The commands, in short."""
        installer = super().change(step, context)
        return "; ".join(filter(None, (installer, f"dpkg -i {' '.join(step.debs)}")))

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """Those of the installer, and the files of the packages that there are."""
        _, *rows = every = _rows(step, context)
        files, debs = told(every, context, step), told(rows, context, step)
        absent = _absent(step)
        removal = f"dpkg --purge {quote(absent)}" if absent else ""
        return {**super().values(step, context), "files": files,
                "debs": [one["used"] for one in debs], "packages": list(step.debs),
                "held": held(files, step, context),
                "removal": unless_noted(removal, step, context)}  # fmt: skip

    def verify(self, step: Step, context: Context) -> list[Path]:
        """Dpkg says `installed` of every one."""
        if absent := _absent(step):
            raise NotSo(", ".join(absent))
        return []

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """Only root may install them, and all have to be there."""
        return needs_root() or missing(_rows(step, context), context)

    def asks(self, step: Step, context: Context) -> str:
        """Nothing: the packages tell no version that could be compared with the release's."""
        return ""

    def note(self, step: Step, context: Context) -> str:
        """What there is to say of each file."""
        return "; ".join(line for one in _rows(step, context) for line in notes(one, context))


def _rows(step: Step, context: Context) -> list[Package]:
    """The installer's package, then the Debian ones."""
    return [row(step, context), *(context.stack.packages[name] for name in step.debs)]


def _absent(step: Step) -> list[str]:
    """The packages that dpkg does not have wholly installed."""
    if not shutil.which("dpkg-query"):
        return list(step.debs)
    query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\\n", *step.debs]
    out = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    there = {line.split()[0] for line in out.splitlines() if line.endswith(" installed")}
    return [name for name in step.debs if name not in there]
