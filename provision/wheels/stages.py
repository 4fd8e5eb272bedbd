"""The stages of a build: each a script of its own, with its log, its time and what was printed."""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from provision.amounts import MIB, size
from provision.errors import PaddockError
from provision.network import Network
from provision.orphans import MARK
from provision.paths import cache_dir
from provision.process import Outcome, Processes, Stopped
from provision.progress import Progress
from provision.render import render
from provision.run import Settings
from provision.symptoms import classify
from provision.wheels.surroundings import clean
from provision.wheels.work import Work


@dataclass(frozen=True)
class Stages:
    """Where the logs of one build are, and whom its progress is told."""

    network: Network
    logs: Path
    progress: Progress
    processes: Processes = field(default_factory=Processes)

    def run(
        self, name: str, values: Mapping[str, object], listen: Callable[[str], None], form: str = ""
    ) -> Outcome:
        """Run the script of a stage, of the template `form` where that has another name.

        Raises KeyboardInterrupt where the run was stopped.
        """
        script = self.logs / f"{name}.sh"
        script.write_bytes(os.fsencode(render(f"wheels/{form or name}.sh.j2", values)))
        run = self.logs.name
        variables = Settings(self.network, 1, run).variables(cache_dir())
        self.progress.started(name)
        began = time.monotonic()
        try:
            marked = clean(variables) | {MARK: f"{run}/{name}"}
            outcome = self.processes.run(script, self.log(name), marked, listen)
        except Stopped:
            raise KeyboardInterrupt from None
        if outcome.status:
            self.progress.failed(name)
        else:
            self.progress.finished(name, time.monotonic() - began)
        return outcome

    def error(
        self, name: str, outcome: Outcome, work: Work, lines: tuple[str, ...] = (), code: str = ""
    ) -> PaddockError:
        """The error of a stage that failed; its last lines tell which, where nothing else did.

        Compilers name files as seen from the build tree; a person opens them where they are.
        """
        seen = re.compile(rf"(?<![\w./-])(?:{re.escape(str(work.build))}/)?{work.sources.name}/")
        told = tuple(seen.sub(lambda _: f"{work.root}/", line) for line in lines or outcome.tail)
        return PaddockError(
            code or classify(outcome.tail), told, status=outcome.status,
            step=f"{work.recipe.backend}/{name}", log=self.log(name), path=work.build, remedy="g++",
            memory=size(work.recipe.memory * MIB),
        )  # fmt: skip

    def log(self, name: str) -> Path:
        """Where the output of a stage is kept."""
        return self.logs / f"{name}.log"


def fresh_logs(state: Path) -> Path:
    """A new folder for the logs of one build."""
    return state / "logs" / (time.strftime("%Y%m%d-%H%M%S-") + uuid.uuid4().hex[:8])
