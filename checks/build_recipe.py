"""`build-ops` of a recipe: the wheel from the plugin's own sources, made or found, and tried."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from provision import guard
from provision.amounts import duration
from provision.errors import PaddockError
from provision.progress import Progress
from provision.site import Site
from provision.wheels import store
from provision.wheels.order import Order, work
from provision.wheels.work import Work
from provision.words import text

if TYPE_CHECKING:
    from provision.wheels import trial
    from provision.wheels.make import Builder
    from provision.wheels.source import Source

Say = Callable[[str], None]
# Backends share checkouts and environments: one build at a time, whatever its backend.
ALL = Site("wheels")
UNTRIED: dict[trial.Verdict, str] = {"memory": "trial-memory", "paddle": "paddle-fails"}
"""The errors for verdicts that tell nothing of a wheel."""


@dataclass(frozen=True)
class Built:
    """A wheel, whether it was there already, and how it loads; None where that was not tried."""

    work: Work
    record: store.Record
    is_new: bool
    trial: trial.Trial | None

    @property
    def wheel(self) -> Path:
        """The file."""
        return Path(self.record.wheel.path)


def build(
    order: Order, say: Say, progress: Callable[[], Progress], source: Source | None = None
) -> Built:
    """The wheel of an order. Raises PaddockError: what was asked, the sources, the build.

    One that is there and made from the same inputs is not made again. `source` is what the order
    names, where that was looked up before.
    """
    wanted = work(order, source)
    if record := store.recall(wanted):
        return Built(wanted, record, False, None)
    from provision.wheels.make import Builder
    from provision.wheels.stages import Stages

    with guard.exclusive(ALL), guard.signals(), _marked(order) as logs, progress() as shown:
        stages = Stages(order.network, logs, shown)
        builder = Builder(wanted, stages, order.jobs, say)
        record = _explained(builder)
    return Built(builder.work, record, True, None)


@contextlib.contextmanager
def _marked(order: Order) -> Iterator[Path]:
    """A new folder of logs, whose name marks what this build starts.

    What a killed build has left running would go on to write into the same tree: it is ended.
    """
    from provision.orphans import end_orphans
    from provision.wheels.stages import fresh_logs

    note = ALL.state / "build"
    if note.is_file():
        end_orphans(note.read_text(encoding="utf-8"))
    logs = fresh_logs(order.site.state)
    note.write_text(logs.name, encoding="utf-8")
    yield logs
    note.unlink()


def _explained(builder: Builder) -> store.Record:
    """Build; the error of a stage that failed names its cause where that is known."""
    try:
        return builder.build()
    except PaddockError as error:
        from checks.known import explained

        raise explained(error) from None


def remembered(made: Built) -> Built | None:
    """The wheel with how it loaded in an earlier run, the same where there is nothing to load.

    None where that is not known.
    """
    if not made.work.recipe.library:
        return made
    from provision.wheels.trial import Trial

    try:
        found = msgspec.json.decode(_note(made).read_bytes(), type=Trial)
    except (OSError, msgspec.MsgspecError):
        return None
    return dataclasses.replace(made, trial=found)


def _note(made: Built) -> Path:
    """How the wheel loaded; it goes with the wheel when that is made anew."""
    return made.wheel.with_name("trial.json")


def tried(made: Built) -> Built:
    """Loaded into the Paddle it is for; a device of its own has to compute.

    A plugin that needs no hardware has no excuse: raises PaddockError `wheel-unfit`. Any needs
    memory, `trial-memory`, and a Paddle that imports, `paddle-fails`.
    """
    from provision.wheels import trial

    work, computes = made.work, not made.work.recipe.needs_hardware
    place = trial.Place(work.python.executable, work.libraries())
    found = trial.load(made.wheel, place, work.recipe.device, compute=computes)
    release = work.python.paddle
    if code := UNTRIED.get(found.verdict):  # of the wheel it tells nothing: the next run tries it
        raise PaddockError(code, (found.line,), wheel=made.wheel.name, release=release)
    if computes and found.verdict != "loads":
        made.wheel.with_name("inputs.json").unlink()
        verdict = text(f"trial.{found.verdict}")
        raise PaddockError(
            "wheel-unfit", (found.line,), wheel=made.wheel.name, verdict=verdict, release=release
        )
    _note(made).write_bytes(msgspec.json.encode(found))
    return dataclasses.replace(made, trial=found)


def lines(made: Built, began: float) -> list[str]:
    """What a person should know of a wheel besides its name and size."""
    record = made.record
    said = [text("build.made", time=duration(record.seconds), log=record.log)]
    if not made.is_new:
        said = [text("build.cached", time=duration(time.monotonic() - began))]
    elif record.warnings:
        said.append(text("build.warnings", count=record.warnings))
    return said + loaded(as_json(made))


def loaded(facts: Mapping[str, object]) -> list[str]:
    """How a wheel loaded, by what `as_json` tells of it; nothing where that was not tried."""
    if not facts["trial"]:
        return []
    verdict = text(f"trial.{facts['trial']}")
    said = text("build.tried", verdict=verdict, release=facts["paddle"])
    return [said, *([f"      {facts['said']}"] if facts["said"] else [])]


def as_json(made: Built) -> dict[str, object]:
    """The same as JSON values, with what the wheel's name says."""
    record = made.record
    return {
        "path": record.wheel.path, "name": record.name, "version": record.version,
        "tags": record.tags, "bytes": record.wheel.size,
        "backend": made.work.recipe.backend, "made": made.is_new, "key": made.record.key,
        "commit": made.work.source.commit or None, "paddle": made.work.python.paddle or None,
        "warnings": made.record.warnings, "seconds": made.record.seconds,
        "trial": made.trial.verdict if made.trial else None,
        "said": made.trial.line if made.trial else None, "log": made.record.log,
        "place": "venv" if made.work.python.env else "host",
    }  # fmt: skip
