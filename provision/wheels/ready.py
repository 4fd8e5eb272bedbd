"""Gets a build ready: what it needs is told, looked at and fetched, and its environment made."""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from provision.errors import PaddockError
from provision.network import hidden
from provision.process import Outcome
from provision.progress import as_step
from provision.symptoms import classify
from provision.wheels import modules, needs, preflight, python, tools
from provision.wheels.bring import bring
from provision.wheels.python import Facts
from provision.wheels.stages import Stages
from provision.wheels.work import Work
from provision.words import text


@dataclass
class Ready:
    """A build that is made ready. `say` tells a person what should be known."""

    work: Work
    stages: Stages
    say: Callable[[str], None]

    def ready(self) -> tuple[Work, Facts]:
        """The build with its sources in place, and what its environment says of itself.

        Raises PaddockError `build-network`, `build-unready`, `source-*`, `no-paddle` and others.
        """
        gone = self._look()
        self._sources()
        facts = self._check(gone)
        env = self.work.python.env
        if env and not self.work.python.executable.exists():
            self._environment(env)
            facts = python.facts(self.work.python.executable)
            self._refuse(tools.of_paddle(self.work, facts))
        for line in tools.notes_of_paddle(facts):
            self.say(f"  {line}")
        self._given()
        return self.work, facts

    def _look(self) -> dict[needs.Kind, str]:
        """Tell for what the network is needed; why some of it cannot be had, in the end as lines.

        Raises PaddockError `build-network` where that is the sources: nothing else can be told.
        """
        found = needs.needs(self.work, self.stages.network)
        for line in needs.lines(found):
            self.say(line)
        gone = needs.unreached(found, self.stages.network)
        if "source" in gone:  # where the submodules are nobody knows without it
            gone |= {one.kind: gone["source"] for one in found if one.kind == "modules"}
            told = tuple(one.line(gone[one.kind]) for one in found if one.kind in gone)
            raise PaddockError("build-network", told, backend=self.work.recipe.backend,
                               count=len(told), reason=gone["source"])  # fmt: skip
        return {one.kind: gone[one.kind] if one.kind == "modules" else one.line(gone[one.kind])
                for one in found if one.kind in gone}  # fmt: skip

    def _sources(self) -> None:
        source, folder = self.work.source, self.work.recipe.folder
        with as_step(self.stages.progress, "source"):
            root = bring(source, self.work.recipe, self.stages.network)
            if not (root / folder).is_dir():
                reason = text("source.no-folder", folder=folder)
                raise PaddockError("source-missing", source=hidden(source.origin), reason=reason)
        self.work = replace(self.work, root=root)

    def _check(self, gone: dict[needs.Kind, str]) -> Facts:
        """What can be told before much is fetched; of the environment, where it is there already.

        Raises PaddockError `build-unready`.
        """
        work, said = self.work, gone.get("modules", "")
        absent = modules.missing(work.source, work.root, work.recipe, work.known)
        network = replace(self.stages.network, offline=self.stages.network.offline or bool(said))
        if absent:
            with as_step(self.stages.progress, "modules"):
                absent, told = modules.check_out(
                    work.source, work.root, work.recipe, work.known, network
                )
                said = said or told
        if work.source.has_history:
            modules.name_tags(work.root, work.recipe, work.known)
        for line in preflight.notes(work):
            self.say(f"  {line}")
        is_there = work.python.executable.exists()
        facts = python.facts(work.python.executable if is_there else work.python.interpreter)
        found = preflight.problems(work, facts, absent, said)
        found += [gone["packages"]] if "packages" in gone else []
        found += tools.of_paddle(work, facts) if is_there else []
        self._refuse(found)
        return facts

    def _refuse(self, found: list[str]) -> None:
        """Raises PaddockError `build-unready` with all that is missing."""
        if found:
            raise PaddockError(
                "build-unready", tuple(found), backend=self.work.recipe.backend, count=len(found)
            )

    def _environment(self, env: Path) -> None:
        """The Python environment, with the Paddle by hash where this tool has its hashes."""
        chosen = self.work.python
        if chosen.loose:
            self.say(text("build.unlocked", release=chosen.paddle))
        values = {"env": env, "interpreter": chosen.interpreter, "locks": chosen.locks,
                  "requirements": chosen.loose}  # fmt: skip
        env.parent.mkdir(parents=True, exist_ok=True)
        outcome = self.stages.run("environment", values, lambda line: None)
        if outcome.status:
            shutil.rmtree(f"{env}.new", ignore_errors=True)
            raise self._no_environment(outcome)

    def _no_environment(self, outcome: Outcome) -> PaddockError:
        chosen, code = self.work.python, classify(outcome.tail)
        if code == "step-failed" and "paddlepaddle" in "\n".join(outcome.tail):
            return PaddockError("no-paddle", outcome.tail, release=chosen.paddle,
                                python=chosen.version)  # fmt: skip
        return self.stages.error("environment", outcome, self.work)

    def _given(self) -> None:
        """Put what the vendor hands out where the build wants it."""
        for piece in self.work.recipe.pieces:
            path = piece.found(self.work.known)
            if piece.into and path and piece.applies(self.work.folder, self.work.known):
                place = self.work.folder / piece.into
                if path != place and not (place.exists() and filecmp.cmp(path, place)):
                    place.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(path, place)
