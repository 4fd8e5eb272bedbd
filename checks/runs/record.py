"""The record of a run of the smoke tests: what was proved, where, and with which versions."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import msgspec

from checks.smoke.report import SmokeReport
from provision import files, lock
from provision.errors import PaddockError
from provision.facts import small
from provision.facts.installed import compare, environment
from provision.site import Site
from provision.stack import Stack
from provision.words import text

KEPT = 100  # records of a target; the oldest go
SCHEMA = "paddock/run/1"


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run. `stand_in` says that no card computed, and stands first.

    `time` is seconds since 1970. `release` is the one that the environment is nearest to, `lock`
    the digest of its lock files, `exact` whether every locked package is installed as locked.
    `versions` has the installed distributions of Paddle, by name, `pins` what the release pins
    outside of Python.
    """

    stand_in: str | None = None
    schema: str = SCHEMA
    id: str
    time: float
    target: str
    release: str
    lock: str
    exact: bool
    versions: dict[str, str]
    pins: dict[str, str]
    smoke: SmokeReport


def keep(stack: Stack, folder: Path, report: SmokeReport) -> tuple[Run, str]:
    """Write the record of a run, whole or not at all, and drop the oldest beyond KEPT.

    A disk that takes no record does not spoil the run: what was wrong is returned, "" for nothing.
    """
    site = Site(stack.target)
    run = _made(stack, folder, report, site)
    path = site.runs / f"{run.id}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write("runs", str(path), msgspec.json.format(msgspec.json.encode(run)) + b"\n")
        for old in sorted(site.runs.glob("*.json"))[:-KEPT]:
            old.unlink(missing_ok=True)
    except (PaddockError, OSError) as error:
        reason = error.part("what") if isinstance(error, PaddockError) else str(error)
        return run, text("runs.lost", path=path, reason=reason)
    return run, ""


def _made(stack: Stack, folder: Path, report: SmokeReport, site: Site) -> Run:
    """The record of a report that came just now."""
    env = environment(site)
    compared = compare(env, folder / "locks", stack.default_release) if env else None
    release = compared.release if compared else stack.default_release
    packages = env.packages if env else {}
    now = time.time()
    name = time.strftime("%Y%m%d-%H%M%S-", time.gmtime(now)) + uuid.uuid4().hex[:6]
    return Run(
        stand_in=report.stand_in, id=name, time=now, target=stack.target, release=release,
        lock=lock.digest(folder, release), exact=bool(compared and not compared.differences),
        versions={name: version for name, version in sorted(packages.items()) if _told(name)},
        pins=dict(stack.releases[release].pins) if release in stack.releases else {},
        smoke=report,
    )  # fmt: skip


def _told(package: str) -> bool:
    """Whether a distribution is of Paddle's family, or what its results depend on most."""
    return package.startswith("paddle") or package == "numpy"


def runs(site: Site) -> Iterator[Run]:
    """The records of a target, the oldest first; a file that is none is left out."""
    yield from filter(None, map(_read, _files(site)))


def unread(site: Site) -> int:
    """How many files stand among the records of a target and are none."""
    return sum(_read(path) is None for path in _files(site))


def _files(site: Site) -> list[Path]:
    return sorted(site.runs.glob("*.json"))


def _read(path: Path) -> Run | None:
    """One record; None for a damaged one, one of another version, and what is no file."""
    try:
        with small.opened(path) as stream:
            run = msgspec.json.decode(stream.read(), type=Run)
    except (OSError, ValueError):
        return None
    return run if run.schema == SCHEMA else None
