"""Kind `packages`: one layer of the lock, by hash, into the environment."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from provision.errors import PaddockError
from provision.stack import Step
from provision.steps.base import Context, NotSo

_PIN = re.compile(r"([A-Za-z0-9._-]+)==([^ ;\\]+)(?: *; *([^\\]+))?")


def pins(lock: Path, environment: dict[str, str]) -> Iterator[tuple[str, str]]:
    """(name, version) of every line of a lock whose marker holds in this environment."""
    from packaging.markers import Marker

    for line in lock.read_text(encoding="utf-8").splitlines():
        match = _PIN.match(line)
        if match and (not match[3] or Marker(match[3].strip()).evaluate(environment)):
            yield match[1], match[2]


def installed(site_packages: Path) -> dict[tuple[str, str], Path]:
    """(normalised name, version) of each installed distribution -> its RECORD file."""
    found = {}
    for folder in site_packages.glob("*.dist-info"):
        name, _, version = folder.name.removesuffix(".dist-info").partition("-")
        found[normal(name), version] = folder / "RECORD"
    return found


def normal(name: str) -> str:
    """A distribution's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def recorded(record: Path, ending: str) -> list[Path]:
    """A RECORD, and the files in it whose names have this ending. Raises NotSo for a missing one.

    The RECORD itself is rewritten by whatever installs or removes the distribution again.
    """
    with record.open(encoding="utf-8", newline="") as lines:
        names = [row[0] for row in csv.reader(lines) if row and row[0].endswith(ending)]
    files = [Path(os.path.normpath(record.parent.parent / name)) for name in names]
    if gone := next((file for file in files if not file.is_file()), None):
        raise NotSo(str(gone))
    return list(dict.fromkeys([record, *files]))


class Packages:
    """What a lock file pins, installed without asking an index what fits."""

    template = "steps/packages.sh.j2"
    changes_host = False
    clears = False
    lacks = "internal"

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """The lock file and the environment's interpreter. Raises PaddockError `stack-part`."""
        return {"python": context.site.python, "lock": self._lock(step, context)}

    def inputs(self, step: Step, context: Context) -> Iterable[Path]:
        """The lock file."""
        return [self._lock(step, context)]

    def verify(self, step: Step, context: Context) -> list[Path]:
        """The RECORD and the compiled libraries of every pinned distribution."""
        site = context.site.site_packages
        if site is None:
            raise NotSo(str(context.site.env))
        version = site.parent.name.removeprefix("python")
        environment = {"python_version": version, "python_full_version": context.site.version}
        there = installed(site)
        shown = []
        for name, pin in pins(self._lock(step, context), environment):
            record = there.get((normal(name), pin))
            if record is None or not record.exists():
                raise NotSo(f"{name} {pin}")
            shown += recorded(record, ".so")
        return shown

    def blocked(self, step: Step, context: Context) -> str | None:
        """Never: what it lacks (network, disk) shows when it runs."""
        return None

    def _lock(self, step: Step, context: Context) -> Path:
        assert step.lock is not None  # noqa: S101 - the stack's reader checks it
        lock = context.lock(step.lock)
        if not lock.is_file():
            raise PaddockError("stack-part", step=step.name, file=lock)
        return lock
