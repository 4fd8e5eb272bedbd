"""Kind `packages`: one layer of the lock, by hash, into the environment."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from provision.distributions import installed, normal, pins
from provision.errors import PaddockError
from provision.stack import Step
from provision.steps.base import Context, Kind, Lack, NotSo


def recorded(
    there: Mapping[tuple[str, str], Path], wanted: tuple[str, str], ending: str
) -> list[Path]:
    """The RECORD of a distribution, and the files in it whose names have this ending.

    `there` is what `installed` found, `wanted` a name and version. The RECORD itself is rewritten
    by whatever installs or removes the distribution again. Raises NotSo for what is missing.
    """
    if wanted not in there or not (record := there[wanted] / "RECORD").exists():
        raise NotSo(" ".join(wanted))
    with record.open(encoding="utf-8", newline="") as lines:
        names = [row[0] for row in csv.reader(lines) if row and row[0].endswith(ending)]
    files = [Path(os.path.normpath(record.parent.parent / name)) for name in names]
    if gone := next((file for file in files if not file.is_file()), None):
        raise NotSo(str(gone))
    return list(dict.fromkeys([record, *files]))


class Packages(Kind):
    """What a lock file pins, installed without asking an index what fits."""

    template = "steps/packages.sh.j2"

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """The lock file, the environment's interpreter, and what of it is there already.

        That is fetched anew, but for what an earlier step has put there: it is that step's, which
        would no longer hold. Raises PaddockError `stack-part`.
        """
        lock = self._lock(step, context)
        there = _there(lock, context)
        own = there - self._earlier(step, context)
        return {"python": context.site.python, "lock": lock, "again": bool(own) and own == there,
                "renewed": sorted(own) if own != there else []}  # fmt: skip

    def identity(self, step: Step, context: Context, script: str) -> str:
        """What is wanted: whether it replaces something does not matter."""
        return f"{self.template} {context.site.python}"

    def inputs(self, step: Step, context: Context) -> Iterable[Path]:
        """The lock file."""
        lock = self._lock(step, context)
        return [lock] if lock.is_file() else []

    def verify(self, step: Step, context: Context) -> list[Path]:
        """The RECORD and the compiled libraries of every pinned distribution."""
        site = context.site.site_packages
        if site is None:
            raise NotSo(str(context.site.env))
        file = self._lock(step, context)
        if not file.is_file():
            raise NotSo(str(file))
        lock = file.read_text(encoding="utf-8")
        there = installed(site)
        wanted = pins(lock, context.site.version).items()
        return [file for pin in wanted for file in recorded(there, pin, ".so")]

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """Without a lock nothing is installed; what a vendor hands out does not need one."""
        lock = self._lock(step, context)
        return None if lock.is_file() else Lack("stack-part", str(lock), later=True)

    def _earlier(self, step: Step, context: Context) -> set[str]:
        """The distributions that earlier steps of this kind pin."""
        steps = context.stack.steps
        layers = [one.lock for one in steps[: steps.index(step)] if one.kind == step.kind]
        return {name for layer in layers if layer for name in _names(context.lock(layer))}

    def _lock(self, step: Step, context: Context) -> Path:
        assert step.lock is not None  # noqa: S101 - the stack's reader checks it
        lock = context.lock(step.lock)
        # A release of a vendor's target may want what no index has: its steps on the host go on.
        if not lock.is_file() and not context.stack.packages:
            raise PaddockError("stack-part", step=step.name, file=lock)
        return lock


def _there(lock: Path, context: Context) -> set[str]:
    """The distributions that the lock pins and that are there, of any version and in any state."""
    site = context.site.site_packages
    return _names(lock) & {name for name, _ in installed(site)} if site else set()


def _names(lock: Path) -> set[str]:
    """The normalised names that a lock pins, on whatever system; none without a lock."""
    if not lock.is_file():
        return set()
    text = lock.read_text(encoding="utf-8")
    return set(map(normal, re.findall(r"^([\w.-]+)==", text, re.MULTILINE)))
