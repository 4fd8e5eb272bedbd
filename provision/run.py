"""Carries a plan out: steps that do not depend on each other run side by side."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from provision.amounts import duration
from provision.errors import PaddockError
from provision.journal import Journal, Witness
from provision.network import Network, hide_secrets
from provision.orphans import LASTING, MARK
from provision.output import Lasting
from provision.patience import wind_up
from provision.plan import Planned, renewed
from provision.process import Outcome, Processes, Stopped
from provision.progress import Progress
from provision.stack import Step
from provision.steps import KINDS
from provision.steps.base import Context, NotSo
from provision.steps.toolchain import remedy
from provision.stream import settled
from provision.symptoms import classify
from provision.tools import uv
from provision.words import text

# Errors of a step that do not keep the steps that can do without it from going on.
_LATER = ("reboot-needed", "package-missing")
# These would send a step's Python or Paddle elsewhere than its own environment.
_LEFT_OUT = ("PYTHONPATH", "PYTHONHOME", "CUSTOM_DEVICE_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX")


def clean(variables: Mapping[str, str]) -> dict[str, str]:
    """These variables without those that would lead out of the stack's environment."""
    return {name: value for name, value in variables.items() if name not in _LEFT_OUT}


@dataclass(frozen=True)
class Settings:
    """How to run: `jobs` parallel compilers, the network, and this run's name."""

    network: Network
    jobs: int
    run: str

    def variables(self, cache: Path) -> dict[str, str]:
        """The environment of every script."""
        inherited = clean(os.environ)
        inherited.setdefault("UV_CACHE_DIR", str(cache / "uv"))
        return inherited | self.network.environment() | {
            MARK: self.run, "UV": uv(), "LC_ALL": "C.UTF-8",
            "CMAKE_BUILD_PARALLEL_LEVEL": str(self.jobs),
        }  # fmt: skip


@dataclass
class Runner:
    """One run of a plan. `execute` returns when every pending step holds, or raises."""

    context: Context
    settings: Settings
    variables: Mapping[str, str]
    progress: Progress
    processes: Processes = field(default_factory=Processes)
    postponed: list[PaddockError] = field(default_factory=list)
    """What has to be told at the end of the run."""

    @property
    def logs(self) -> Path:
        """The folder of this run's logs."""
        return self.context.site.logs / self.settings.run

    def execute(self, steps: list[Planned]) -> None:
        """Run the pending steps in the order of their needs.

        Raises PaddockError `step-failed` or a nearer class, `step-unverified`; KeyboardInterrupt
        passes through after what runs was ended and noted as interrupted. In both cases vendors'
        installers that run come to their own end before.
        """
        waiting = {one.name: one for one in steps if one.state == "pending"}
        running: dict[Future[None], Planned] = {}
        self.logs.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(max_workers=max(len(waiting), 1)) as pool:
            try:
                while waiting or running:
                    busy = {*waiting, *(one.name for one in running.values())}
                    for one in _ready(waiting, busy):
                        running[pool.submit(self._step, waiting.pop(one.name))] = one
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        self._ended(future, running.pop(future), waiting)
            except BaseException as error:
                asked = isinstance(error, KeyboardInterrupt)
                wind_up(self.processes, running, self.progress.note, asked=asked)
                if isinstance(error, PaddockError):
                    error.details += tuple(_failures(running))
                raise

    def _ended(self, future: Future[None], ended: Planned, waiting: dict[str, Planned]) -> None:
        """Raise the step's error, or keep it for later and leave out what needs the step."""
        try:
            future.result()
        except PaddockError as error:
            if error.code not in _LATER and not ended.kind.can_wait:
                raise
            self.postponed.append(error)
            out = {ended.name}
            for one in list(waiting.values()):
                if out & set(one.step.needs):
                    out.add(waiting.pop(one.name).name)

    def log(self, step: str) -> Path:
        """The file for what a step's script prints."""
        return self.logs / (step.replace("/", "-") + ".log")

    def script(self, step: Step, content: str) -> Outcome:
        """Run a script of a step, or of its undo, to its end. Raises Stopped.

        Its processes carry a mark, by which a run after a SIGKILL finds them: to be ended, or let
        finish where it is a vendor's.
        """
        kind, site = KINDS[step.kind], self.context.site
        script = site.state / "scripts" / (step.name.replace("/", "-") + ".sh")
        for folder in (script.parent, self.logs):
            folder.mkdir(parents=True, exist_ok=True)
        script.write_bytes(os.fsencode(content))  # paths in the bytes that the system has
        mark = f"{self.settings.run}/{step.name}"
        own = {**kind.variables(step, self.context), MARK: mark}
        lasting = None
        if kind.leaves_halves:
            own[LASTING] = mark
            quiet = partial(self._quiet, step.name)
            lasting = Lasting(step.name, kind.quiet(step, self.context), quiet)
        return self.processes.run(
            script, self.log(step.name), {**self.variables, **own},
            lambda line: self.progress.line(step.name, line), lasting,
        )  # fmt: skip

    def _quiet(self, step: str, seconds: float, line: str) -> None:
        """Say that an installer has printed nothing for long; it goes on."""
        self.progress.note(text(
            "patience.quiet", step=step, time=duration(seconds),
            line=hide_secrets(settled(line)) or "-", log=self.log(step),
        ))  # fmt: skip

    def _step(self, one: Planned) -> None:
        """Run one step, verify it, and note each of both in the journal."""
        if one.late:
            one = renewed(one, self.context)
        journal, log = Journal(self.context.site.journal), self.log(one.name)
        journal.record(one.name, "start", one.key, run=self.settings.run, log=str(log))
        self.progress.started(one.name)
        began = time.monotonic()
        try:
            outcome = self.script(one.step, one.script)
            shown = self._verified(one, outcome)
        except Stopped:
            journal.record(one.name, "interrupted", one.key, run=self.settings.run)
            return
        except PaddockError:
            journal.record(one.name, "failed", one.key, run=self.settings.run, log=str(log))
            self.progress.failed(one.name)
            raise
        seconds = time.monotonic() - began
        journal.record(one.name, "done", one.key, run=self.settings.run, seconds=seconds,
                       witnesses=shown, log=str(log))  # fmt: skip
        self.progress.finished(one.name, seconds)

    def _verified(self, one: Planned, outcome: Outcome) -> list[Witness]:
        """What shows that the step holds: an installer's exit status alone is not believed."""
        if outcome.status:
            raise one.kind.failure(one.step, self.context) or self.error(one.step, outcome)
        try:
            return [Witness.of(path) for path in one.kind.verify(one.step, self.context)]
        except NotSo as missing:
            raise PaddockError(
                one.kind.unverified, outcome.tail, step=one.name, missing=missing,
                log=self.log(one.name),
            ) from None  # fmt: skip

    def error(self, step: Step, outcome: Outcome, what: str = "") -> PaddockError:
        """The error of a script that has failed, by its last lines; `what` stands for the step."""
        from provision.blame import placed  # it knows all kinds of steps

        return placed(PaddockError(
            classify(outcome.tail), outcome.tail, step=what or step.name, status=outcome.status,
            log=self.log(step.name), path=self.context.site.env, remedy=remedy(),
        ), step, self.context)  # fmt: skip


def _failures(ended: Iterable[Future[None]]) -> Iterator[str]:
    """What went wrong beside the failure that ended a run."""
    for future in ended:
        error = future.exception()
        if isinstance(error, PaddockError):
            yield error.part("what")


def _ready(waiting: Mapping[str, Planned], busy: Collection[str]) -> list[Planned]:
    """The waiting steps for which nothing that they come after is waiting or running."""
    return [one for one in waiting.values() if not {*one.step.needs, *one.step.after} & {*busy}]
