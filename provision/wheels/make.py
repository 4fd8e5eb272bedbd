"""Carries a build out: made ready, configured, compiled, and the wheel in its place."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from provision.amounts import MIB, size
from provision.errors import PaddockError
from provision.facts.memory_left import memory_left
from provision.process import Outcome
from provision.render import render
from provision.wheels import ccache, sizing, store
from provision.wheels.output import Watch
from provision.wheels.python import Facts
from provision.wheels.ready import Ready
from provision.wheels.stages import Stages
from provision.wheels.work import Work
from provision.words import text


@dataclass
class Builder:
    """One build under way. `say` tells a person what should be known; `jobs` None: computed."""

    work: Work
    stages: Stages
    jobs: int | None
    say: Callable[[str], None]

    def build(self) -> store.Record:
        """The wheel, made now. Raises PaddockError of many classes; what was done is kept."""
        began = time.monotonic()
        self.stages.logs.mkdir(parents=True, exist_ok=True)
        try:
            self.work, facts = Ready(self.work, self.stages, self.say).ready()
            warnings = self._compile(facts) if self.work.recipe.build == "cmake" else self._setup()
        except BaseException:
            self.stages.processes.stop()
            raise
        seconds = time.monotonic() - began
        return store.keep(self.work, self._wheel(), warnings, seconds, self.stages.log("compile"))

    def _compile(self, facts: Facts) -> int:
        """Configure and compile; the number of warnings. Out of memory is tried once more."""
        values = self._values(facts) | {"defines": self.work.defines(facts)}
        watch = Watch(lambda line: None)
        outcome = self.stages.run("configure", values, watch.line)
        if outcome.status:
            raise self.stages.error("configure", outcome, self.work, tuple(watch.error))
        jobs = self._jobs()
        watch = Watch(lambda line: self.stages.progress.line("compile", line))
        outcome = self.stages.run("compile", values | {"jobs": jobs}, watch.line)
        if outcome.status and _ran_out(outcome, watch) and jobs > 1:
            fewer = min(jobs // 2, self._fit())
            self.say(text("build.memory", jobs=jobs, fewer=fewer))
            watch = Watch(watch.show, watch.warnings)
            outcome = self.stages.run("compile", values | {"jobs": fewer}, watch.line)
        if outcome.status:
            code = "build-memory" if _ran_out(outcome, watch) else ""
            raise self.stages.error("compile", outcome, self.work, tuple(watch.error), code)
        return watch.warnings

    def _jobs(self) -> int:
        """How many compilers run side by side; says so, with what makes it slow or too many."""
        memory = self.work.recipe.memory * MIB
        jobs = self.jobs or self._fit()
        self.say(text("build.jobs", jobs=jobs, units=sizing.units(self.work.folder)))
        if problem := ccache.ccache().problem:
            self.say(text("note.ccache", reason=problem))
        free = memory_left()
        if free is not None and free < jobs * memory:
            self.say(text("note.jobs", fit=free // memory, memory=size(memory), jobs=jobs))
        return jobs

    def _fit(self) -> int:
        return sizing.jobs(sizing.units(self.work.folder), self.work.recipe.memory * MIB)

    def _setup(self) -> int:
        outcome = self.stages.run("compile", self._values(None), lambda line: None, "setup")
        if outcome.status:
            raise self.stages.error("compile", outcome, self.work)
        return 0

    def _values(self, facts: Facts | None) -> dict[str, object]:
        work = self.work
        return {
            "root": work.root, "sources": work.sources, "folder": work.recipe.folder,
            "build": work.build, "programs": self._programs(),
            "python": work.python.executable, "library": work.recipe.library,
            "libraries": work.libraries(),
            "variables": work.variables(facts.paddle if facts else ""),
            "made": [work.build / "python/paddle_custom_device" / work.recipe.device / name
                     for name in ("", "passes")],
        }  # fmt: skip

    def _programs(self) -> str:
        """Folders in which `python3` is the Python of this build, whatever else is on PATH.

        CMake's own program comes before the script of its package, which starts Python first.
        """
        chosen = self.work.python
        if chosen.env:
            own = chosen.env.glob("lib/python*/site-packages/cmake/data/bin")
            return os.pathsep.join(map(str, [*own, chosen.env / "bin"]))
        folder = self.work.build.with_name(f"{self.work.build.name}.bin")
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("python", "python3", f"python{chosen.version}"):
            (folder / name).write_text(render("wheels/shim.sh.j2", {"python": chosen.executable}))
            (folder / name).chmod(0o755)
        return str(folder)

    def _wheel(self) -> Path:
        """The one wheel that was packed, for this Python. Raises PaddockError `step-unverified`.

        Sources that call just any `python3` have packed one for another.
        """
        work, tag = self.work, self.work.python.tag
        name = f"{work.recipe.distribution}-*-{tag}-{tag}-linux_{work.machine}.whl"
        found = sorted((work.build / "dist").glob(name))
        if len(found) != 1:
            raise PaddockError(
                "step-unverified", step="compile", missing=work.build / "dist" / name,
                log=self.stages.log("compile"),
            )  # fmt: skip
        return found[0]


def _ran_out(outcome: Outcome, watch: Watch) -> bool:
    """Whether memory ran out: a tool says so, or the kernel has killed the build itself."""
    return watch.is_memory or outcome.status in (-signal.SIGKILL, 128 + signal.SIGKILL)
