"""Runs the smoke tests: each level's probes by the Python of the environment under test."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NamedTuple

import msgspec

from checks.smoke import operators, tiny, torch_names
from checks.smoke.process import Ended, run_probe
from checks.smoke.report import Check, LevelReport, SmokeReport, judge
from checks.smoke.settings import LEVELS, Level, Smoke, settings_of
from checks.smoke.show import level_lines
from provision.errors import unknown_name

__all__ = ["LEVELS", "Check", "LevelReport", "SmokeReport", "levels_of", "run_smoke", "settings_of"]

PROBES = Path(__file__).parent / "probes"
SCRIPTS: dict[Level, tuple[str, ...]] = {
    "device": ("device.py",),
    "ops": ("ops.py",),
    "model": ("model.py", "tiny_llama.py"),
    "train": ("train.py",),
    "deploy": ("deploy.py",),
    "perf": ("perf.py",),
}


class Job(NamedTuple):
    """A probe to run: its script, its settings, and how many seconds it may be silent."""

    script: str
    spec: Mapping[str, object]
    limit: float


def levels_of(
    name: str, known: Sequence[Level] = LEVELS, programs: Sequence[str] = ()
) -> tuple[Level, ...]:
    """The levels that a name stands for; `all` for every one that is known.

    Raises PaddockError `unknown-level`, which also names those that `programs` run.
    """
    found = tuple(level for level in known if name in (level, "all"))
    if not found:
        raise unknown_name("unknown-level", name, [*dict.fromkeys([*known, *programs]), "all"])
    return found


def run_smoke(  # noqa: PLR0913, PLR0917 (of these, four have defaults)
    python: Path,
    device: str,
    settings: Smoke,
    variables: Mapping[str, str] | None = None,
    show: Callable[[str], None] | None = None,
    levels: Sequence[Level] | None = None,
    watch: Callable[[Level], AbstractContextManager[None]] = lambda level: nullcontext(),
) -> SmokeReport:
    """Run levels in order, each whatever the others found.

    `python` is the interpreter of the environment under test, `variables` its whole environment
    (default: this process's). `show` gets the lines for a person as each level ends (default: none
    are made), and each level (default: all of the target) runs within what `watch` gives for it
    (default: nothing). A probe that hangs, dies or runs elsewhere is a failed check, never an
    exception.
    """
    reports: list[LevelReport] = []
    for level in settings.levels if levels is None else levels:
        given = os.environ if variables is None else variables
        with watch(level):
            report = run_level(python, device, settings, level, given)
        if show:
            if report.stand_in and not any(one.stand_in for one in reports):
                show(f"  {report.stand_in}")
            for line in level_lines(report):
                show(line)
        reports.append(report)
    passed = all(report.passed for report in reports)
    said = next(filter(None, (report.stand_in for report in reports)), None)
    return SmokeReport(stand_in=said, device=device, passed=passed, levels=tuple(reports))


def run_level(
    python: Path, device: str, settings: Smoke, level: Level, variables: Mapping[str, str]
) -> LevelReport:
    """Run the probes of one level and judge them. None starts where the level cannot fit."""
    before = tiny.fits(settings.target, level)
    limit, spec = settings.silence.limit(level), {**settings.spec(), "tiny": tiny.spec()}
    if level == "ops":
        spec["operators"] = operators.rows(device)
    if device != settings.device:  # the CPU, of which the plugin knows nothing
        spec |= {"ops_module": "", "counted": False}
    scripts = list(SCRIPTS[level])
    if level == "ops" and settings.torch_names:
        scripts.append("torch_names.py")
        spec["names"] = torch_names.asked()
    jobs = [Job(script, spec, limit) for script in scripts]
    if any(one.error for one in before):
        jobs = []
    ended = [start(python, device, job, variables) for job in jobs]
    return judge(level, device, ended, settings, before)


def start(python: Path, device: str, job: Job, variables: Mapping[str, str]) -> Ended:
    """Run one probe in a folder of its own, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="paddock-smoke-") as folder:
        out, spec = Path(folder) / "result.jsonl", Path(folder) / "spec.json"
        spec.write_bytes(msgspec.json.encode(job.spec))
        paths = [python, PROBES / job.script, "--out", out, "--spec", spec]
        try:
            return run_probe([*map(str, paths), "--device", device], out, job.limit, variables)
        except OSError as error:  # no such interpreter, say: a finding like any other
            return Ended(127, job.limit, 0.0, [], {}, (f"{python}: {error.strerror}",))
