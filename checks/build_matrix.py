"""`build-ops --matrix`: each wheel built for one Paddle, loaded into each of the others."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from checks import build_recipe
from checks.build_recipe import Built, Say
from provision.errors import BUSY, USAGE, PaddockError
from provision.facts.proof import Proof
from provision.journal import Witness
from provision.progress import Progress
from provision.wheels import trial
from provision.wheels.order import Order, work
from provision.wheels.work import Work
from provision.words import text

TRIES = 5
"""How often a wheel is loaded into a release, while that goes well: one good load may be chance.
Measured for one pair: of 12 loads 8 crashed, 2 hung and 2 computed."""


class Cell(msgspec.Struct, frozen=True):
    """What came of a wheel built for one release and run with another.

    It was tried `tries` times, until one did not compute; `verdict` is that of the last, and
    `computed` is how many did.
    """

    built: str
    run: str
    verdict: trial.Verdict
    line: str
    tries: int
    computed: int

    @property
    def said(self) -> str:
        """The cell for people."""
        verdict = text(f"cell.{self.verdict}")
        if self.tries == 1:
            return verdict
        return text("matrix.cell", verdict=verdict, computed=self.computed, tries=self.tries)


@dataclasses.dataclass(frozen=True)
class Row:
    """A release of the matrix: what was to be built, and the wheel or why there is none."""

    work: Work
    made: Built | PaddockError

    @property
    def release(self) -> str:
        """The Paddle."""
        return self.work.python.paddle

    @property
    def runs(self) -> bool:
        """Whether its Paddle is here: also one for which nothing could be built runs wheels."""
        return self.work.python.executable.exists()


def rows(orders: Sequence[Order], say: Say, progress: Callable[[], Progress]) -> list[Row]:
    """Build for each release; one that cannot be built or installed does not end the others.

    Raises PaddockError for what is wrong with all of them: a backend whose plugin needs hardware,
    no releases, the sources, another run at work.
    """
    _refuse(orders)
    source = work(orders[0]).source
    # Of one commit all, also where a branch moves on meanwhile; a folder is looked at again.
    known = source if source.commit else None
    made = []
    for order in orders:
        wanted = work(order, known)
        try:
            made.append(Row(wanted, build_recipe.build(order, say, progress, known)))
        except PaddockError as error:
            if error.status in (USAGE, BUSY):
                raise
            why = next(iter(error.details), error.part("what"))
            say(text("matrix.unbuilt", release=order.paddle, why=why))
            made.append(Row(wanted, error))
    return made


def _refuse(orders: Sequence[Order]) -> None:
    releases = [order.paddle for order in orders]
    if not all(releases) or len(set(releases)) < len(releases):
        value, wanted = ",".join(releases), text("wanted.matrix")
        raise PaddockError("bad-option", option="--paddle", value=value, wanted=wanted)
    from provision.wheels.recipe import load

    if load(orders[0].backend).needs_hardware or not load(orders[0].backend).library:
        raise PaddockError("flag-needs", one="--matrix", other="--backend custom_cpu")
    if orders[0].place != "venv":
        raise PaddockError("flags-apart", one="--matrix", other=f"--in {orders[0].place}")


def cells(made: Sequence[Row], say: Say) -> Iterator[Cell]:
    """Load each wheel into each release that is here.

    Only what a run that was broken off has found is taken for known, until `forget`.
    """
    for row in made:
        for other in made:
            if isinstance(row.made, Built) and other.runs:
                memory = _memory(row.made, other)
                before = memory.recall(Cell)
                one = before.value if before else _cell(row.made, other)
                if one.verdict not in build_recipe.UNTRIED:
                    memory.keep(one)
                kept = text("matrix.kept") if before else ""
                say(f"  {one.built} -> {one.run}: {one.said}{kept}")
                yield one


def _notes() -> Path:
    return build_recipe.ALL.state / "matrix"


def forget() -> None:
    """The matrix was told: the next one is measured anew."""
    shutil.rmtree(_notes(), ignore_errors=True)


def _memory(wheel: Built, other: Row) -> Proof:
    """Where a cell is kept, for as long as the wheel and the environment are unchanged."""
    env = other.work.python.executable.parent.parent
    files = [Witness.of(wheel.wheel), Witness.of(env / "pyvenv.cfg")]
    name = f"{wheel.work.recipe.backend}-{wheel.work.label}-{other.release}.json"
    return Proof(_notes() / name, {"tries": str(TRIES)}, files)


def _cell(wheel: Built, other: Row) -> Cell:
    """One wheel in the environment of a release."""
    device, place = wheel.work.recipe.device, trial.Place(other.work.python.executable)
    built, run = wheel.work.python.paddle, other.release
    tries = computed = 0
    while tries == computed < TRIES:
        found = trial.load(wheel.wheel, place, device, compute=True)
        tries, computed = tries + 1, computed + (found.verdict == "loads")
    return Cell(built, run, found.verdict, found.line, tries, computed)
