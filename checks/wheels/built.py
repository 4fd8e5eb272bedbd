"""What goes with a wheel that was built here: its papers, and the verdict of its audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from provision.facts import loading
from provision.facts.proof import Proof
from provision.journal import Witness
from provision.papers import bill_beside, statement_beside
from provision.site import Site
from provision.words import text

if TYPE_CHECKING:
    from checks.build_recipe import Built
    from provision.stack import Step
    from provision.steps.base import Context

_RESTS_ON = ("paddle/base/libpaddle.so", "paddle/libs/libphi_core.so")
# What the load of a build comes to, as the audit calls it. Where it computes wrong, it has none.
_LOADED: dict[str, loading.Verdict] = {
    "loads": "loads", "registers": "loads", "skipped": "skipped", "symbol": "symbol",
    "open": "broken", "hang": "hangs", "exit-hang": "hangs", "crash": "crashes",
    "exit-crash": "crashes", "error": "raises",
}  # fmt: skip


class Verdict(msgspec.Struct, frozen=True):
    """How an audit ended: its exit status, and how many answers were of each state.

    `bad` are the questions with an answer that is not good; `registered` is what Paddle said when
    it loaded the wheel, "" where that was not tried.
    """

    status: int
    counts: dict[str, int]
    bad: list[str]
    registered: str = ""

    @property
    def line(self) -> str:
        """The verdict for people."""
        said = text("wheel.tally", **self.counts).strip()
        bad = f" ({', '.join(self.bad)})" if self.bad else ""
        loads = text("wheel.loads", line=self.registered) if self.registered else ""
        return said + bad + loads


class Papers(msgspec.Struct, frozen=True):
    """The files beside a wheel, and the verdict."""

    files: list[Path]
    verdict: Verdict

    @staticmethod
    def told(facts: Mapping[str, object]) -> Papers:
        """Both, from what `to_json` has told."""
        files = [Path(name) for name in msgspec.convert(facts["papers"], list[str])]
        return Papers(files, msgspec.convert(facts["audit"], Verdict))

    def to_json(self) -> dict[str, object]:
        """Both as JSON values."""
        return {"papers": [str(path) for path in self.files],
                "audit": msgspec.to_builtins(self.verdict)}  # fmt: skip

    def lines(self) -> Iterator[str]:
        """Both for people."""
        yield text("build.papers", files=", ".join(path.name for path in self.files))
        yield text("build.audit", verdict=self.verdict.line)


def papers_of_step(step: Step, context: Context, wheel: Path) -> Papers:
    """What goes with the wheel of a step; it is loaded into the Paddle of the environment."""
    from provision.papers.making import of_step, put

    files = put(wheel, lambda: of_step(step, context))
    return Papers(files, _verdict(wheel, context.site, context.site.python, importing=True))


def files_of_recipe(made: Built) -> list[Path]:
    """The papers beside the wheel of a recipe, made where they are not there."""
    files = [statement_beside(made.wheel), bill_beside(made.wheel)]
    # A wheel that is found again is the one beside which they were put: nothing heavy is imported.
    if made.is_new or not all(path.is_file() for path in files):
        from provision.papers.making import of_recipe, put

        files = put(made.wheel, lambda: of_recipe(made.work, Path(made.record.log).parent))
    return files


def papers_of_recipe(made: Built) -> Papers:
    """What goes with the wheel of a recipe; the audit is told how it loaded."""
    site, python = Site(made.work.recipe.backend), made.work.python.executable
    verdict = _verdict(made.wheel, site, python, importing=False, tried=_as_loaded(made))
    return Papers(files_of_recipe(made), verdict)


def _as_loaded(made: Built) -> loading.Loaded | None:
    """How the wheel loaded when it was built, as the audit would have found it."""
    if made.trial is None or made.trial.verdict not in _LOADED:
        return None
    verdict, device = _LOADED[made.trial.verdict], made.work.recipe.device
    types = [device] if verdict == "loads" else []
    line = f"registered: {device}" if types else made.trial.line
    return loading.Loaded(verdict, line, "build-ops", types)


def _verdict(
    wheel: Path, site: Site, python: Path, *, importing: bool, tried: loading.Loaded | None = None
) -> Verdict:
    """The verdict on a wheel in an environment; one of unchanged files is remembered."""
    packages = list(python.parent.parent.glob("lib/python3.*/site-packages"))
    rests = [path / name for path in packages for name in _RESTS_ON if (path / name).is_file()]
    witnesses = [Witness.of(path) for path in (wheel, *rests)]
    loaded = repr(tried) if tried else ""
    conditions = {"python": str(python), "loaded": loaded}
    memory = Proof(site.state / "audits" / f"{wheel.name}.json", conditions, witnesses)
    if known := memory.recall(Verdict):
        return known.value
    made = _audited(wheel, python, tried, importing=importing)
    memory.keep(made)
    return made


def _audited(
    wheel: Path, python: Path, tried: loading.Loaded | None, *, importing: bool
) -> Verdict:
    from checks.doctor.report import grade
    from checks.wheels.audit import audit
    from checks.wheels.place import find
    from checks.wheels.subject import Trial
    from checks.wheels.verify import counts, registered

    where = find(wheel.name, "auto", str(python))
    trial = Trial(loaded=tried) if tried else None
    found = audit(wheel, where, importing=importing, tried=trial).findings
    bad = [one.id for one in found if one.state in ("error", "warning", "unknown")]
    return Verdict(grade(found), counts(found), bad, registered(found))
