"""Kind `debs`: a vendor's stack of Debian packages: its installer, then the packages in one go."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from provision.stack import Step
from provision.steps.account import needs_root
from provision.steps.base import Context, Lack, NotSo
from provision.steps.vendor import Vendor, missing, notes, path, told
from provision.vendor.rows import Package


class Debs(Vendor):
    """Satisfied when dpkg has each of them installed; half-installed ones are healed."""

    def change(self, step: Step, context: Context) -> str:
        """The commands, in short."""
        packages = " ".join(step.debs)
        return f"{super().change(step, context)}; dpkg -i {packages}"

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """Those of the installer, and the files of the packages that there are."""
        own = context.stack.packages[step.package] if step.package else None
        rows = _rows(step, context)
        debs = [file for one in rows if (file := path(one, context)).is_file()]
        files = told([own, *rows] if own else rows, context)
        return {**super().values(step, context), "files": files, "debs": debs,
                "packages": list(step.debs), "is_new": bool(_absent(step))}  # fmt: skip

    def verify(self, step: Step, context: Context) -> list[Path]:
        """Dpkg says `installed` of every one."""
        if absent := _absent(step):
            raise NotSo(", ".join(absent))
        return []

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """Only root may install them, and all have to be there."""
        own = context.stack.packages[step.package] if step.package else None
        rows = [own, *_rows(step, context)] if own else _rows(step, context)
        return needs_root() or missing(rows, context)

    def asks(self, step: Step, context: Context) -> str:
        """Nothing: the packages tell no version that could be compared with the release's."""
        return ""

    def note(self, step: Step, context: Context) -> str:
        """What there is to say of each file."""
        rows = [context.stack.packages[step.package or ""], *_rows(step, context)]
        return "; ".join(line for one in rows for line in notes(one, context))


def _rows(step: Step, context: Context) -> list[Package]:
    return [context.stack.packages[name] for name in step.debs]


def _absent(step: Step) -> list[str]:
    """The packages that dpkg does not have wholly installed."""
    if not shutil.which("dpkg-query"):
        return list(step.debs)
    query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\\n", *step.debs]
    out = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    there = {line.split()[0] for line in out.splitlines() if line.endswith(" installed")}
    return [name for name in step.debs if name not in there]
