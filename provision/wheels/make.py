"""Carries a build out: environment, preflight, configure, compile, and the wheel in its place."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from provision.errors import PaddockError
from provision.facts.memory_left import memory_left
from provision.process import Outcome
from provision.render import render
from provision.symptoms import classify
from provision.wheels import preflight, python, sizing, store, tools
from provision.wheels.bring import bring, modules
from provision.wheels.output import Watch
from provision.wheels.python import Facts
from provision.wheels.recipe import TOOLS
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
            self._sources()
            self._ready()
            if self.work.python.env and not self.work.python.python.exists():
                self._environment(self.work.python.env)
            facts = python.facts(self.work.python.python)
            self._refuse(tools.of_paddle(self.work, facts))
            self._given()
            warnings = self._compile(facts) if self.work.recipe.build == "cmake" else self._setup()
        except BaseException:
            self.stages.processes.stop()
            raise
        seconds = time.monotonic() - began
        return store.keep(self.work, self._wheel(), warnings, seconds, self.stages.log("compile"))

    def _sources(self) -> None:
        self.stages.progress.started("source")
        began = time.monotonic()
        root = bring(self.work.source, self.work.recipe, self.stages.network)
        if not (root / self.work.recipe.folder).is_dir():
            self.stages.progress.failed("source")
            raise PaddockError(
                "source-missing", source=self.work.source.origin,
                reason=text("source.no-folder", folder=self.work.recipe.folder),
            )  # fmt: skip
        self.work = replace(self.work, root=root)
        self.stages.progress.finished("source", time.monotonic() - began)

    def _environment(self, env: Path) -> None:
        """The Python environment, with the Paddle by hash where this tool has its hashes."""
        chosen = self.work.python
        lock, release = chosen.lock, chosen.paddle
        locks = [lock, lock.with_name("build.txt")] if lock else [TOOLS]
        wanted = [f"paddlepaddle=={release}", "numpy<2"] if release and not lock else []
        if wanted:
            self.say(text("build.unlocked", release=release))
        values = {"env": env, "interpreter": chosen.interpreter, "locks": locks,
                  "requirements": wanted}  # fmt: skip
        env.parent.mkdir(parents=True, exist_ok=True)
        outcome = self.stages.run("environment", values, lambda line: None)
        if outcome.status:
            shutil.rmtree(f"{env}.new", ignore_errors=True)
            raise self._no_environment(outcome, release)

    def _no_environment(self, outcome: Outcome, release: str) -> PaddockError:
        said = "\n".join(outcome.tail)
        code = classify(outcome.tail)
        if code == "step-failed" and "paddlepaddle" in said:
            return PaddockError(
                "no-paddle", outcome.tail, release=release, python=self.work.python.version
            )
        return self._failed("environment", outcome, code, outcome.tail)

    def _ready(self) -> None:
        """What can be told before much is fetched. Raises PaddockError `build-unready`."""
        work = self.work
        missing, said = modules(
            work.source, work.root, work.recipe, work.known, self.stages.network
        )
        if said:
            self.say(f"  git: {said}")
        self._refuse(preflight.problems(work, python.facts(work.python.interpreter), missing))
        for line in preflight.notes(work):
            self.say(f"  {line}")

    def _refuse(self, found: list[str]) -> None:
        """Raises PaddockError `build-unready` with all that is missing."""
        if found:
            raise PaddockError(
                "build-unready", tuple(found), backend=self.work.recipe.backend, count=len(found)
            )

    def _given(self) -> None:
        """Put what the vendor hands out where the build wants it."""
        for piece in self.work.recipe.pieces:
            path = piece.found(self.work.known)
            if piece.into and path and piece.applies(self.work.folder, self.work.known):
                place = self.work.folder / piece.into
                if path != place:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(path, place)

    def _compile(self, facts: Facts) -> int:
        """Configure and compile; the number of warnings. Out of memory is tried once more."""
        work = self.work
        values = self._values(facts) | {"defines": work.defines(facts)}
        outcome = self.stages.run("configure", values, lambda line: None)
        if outcome.status:
            raise self._failed("configure", outcome, classify(outcome.tail), outcome.tail)
        units = sizing.units(work.folder)
        memory = work.recipe.memory
        fit = sizing.jobs(units, memory * sizing.MIB)
        jobs = self.jobs or fit
        self.say(text("build.jobs", jobs=jobs, units=units))
        free = memory_left()
        if free is not None and free < jobs * memory * sizing.MIB:
            self.say(text("note.jobs", fit=fit, memory=memory, jobs=jobs))
        watch = Watch(lambda line: self.stages.progress.line("compile", line))
        outcome = self.stages.run("compile", values | {"jobs": jobs}, watch.line)
        if outcome.status and _ran_out(outcome, watch) and jobs > 1:
            self.say(text("build.memory", jobs=jobs, fewer=jobs // 2))
            watch = Watch(watch.show, watch.warnings)
            outcome = self.stages.run("compile", values | {"jobs": jobs // 2}, watch.line)
        if outcome.status:
            code = "build-memory" if _ran_out(outcome, watch) else classify(outcome.tail)
            raise self._failed("compile", outcome, code, tuple(watch.error) or outcome.tail)
        return watch.warnings

    def _setup(self) -> int:
        outcome = self.stages.run("compile", self._values(None), lambda line: None, "setup")
        if outcome.status:
            raise self._failed("compile", outcome, classify(outcome.tail), outcome.tail)
        return 0

    def _values(self, facts: Facts | None) -> dict[str, object]:
        work = self.work
        return {
            "folder": work.folder, "build": work.build, "bin": self._programs(),
            "python": work.python.python, "library": work.recipe.library,
            "libraries": work.libraries(),
            "variables": work.variables(facts.paddle if facts else ""),
            "made": [work.build / "python/paddle_custom_device" / work.recipe.device / name
                     for name in ("", "passes")],
        }  # fmt: skip

    def _programs(self) -> Path:
        """A folder in which `python3` is the Python of this build, whatever else is on PATH."""
        chosen = self.work.python
        if chosen.env:
            return chosen.env / "bin"
        folder = self.work.build.with_name(f"{self.work.build.name}.bin")
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("python", "python3", f"python{chosen.version}"):
            (folder / name).write_text(render("wheels/shim.sh.j2", {"python": chosen.python}))
            (folder / name).chmod(0o755)
        return folder

    def _failed(
        self, name: str, outcome: Outcome, code: str, lines: tuple[str, ...]
    ) -> PaddockError:
        return PaddockError(
            code, lines, step=f"{self.work.recipe.backend}/{name}", status=outcome.status,
            log=self.stages.log(name), path=self.work.build, remedy="g++",
            memory=self.work.recipe.memory,
        )  # fmt: skip

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
