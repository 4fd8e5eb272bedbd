"""The verdict on a run: by its logs, how it ended, and what its cards showed."""

from __future__ import annotations

import json
import math
from pathlib import Path

from checks.judge import diagnose
from checks.judge.causes import causes
from checks.judge.diagnose import Diagnosis
from checks.judge.levels import Levels
from checks.judge.reading import Reading
from checks.judge.verdict import Cause, failed
from checks.judge.which import judged, logs_in
from checks.launch import cards, proof
from checks.launch.live import Ended
from checks.launch.watch import Usage
from checks.launch.wish import Filled
from provision.amounts import duration


def verdict(known: Levels, one: Filled, folder: Path, ended: Ended, usage: Usage) -> Diagnosis:
    """The verdict on a recipe by the logs in its record, its exit status, and its cards."""
    reading = Reading()
    for name in logs_in(str(folder))[0]:
        reading.log(name)
    recipe = one.recipe
    exported = one.folder / recipe.exported if recipe.exported else None
    status = ended.status if ended.status is not None else -15
    made = judged(recipe.level, reading.logs, known, status, recipe.name, exported)
    tool = cards.TOOLS[known.device][0]
    made.reasons.extend(proof.reasons(usage, one.cards, tool))
    if ended.stopped:
        made.reasons.append(failed("stopped"))
    made.figures.update(proof.figures(usage))
    good = made.outcome == "passed"
    return Diagnosis(reading, [made], [] if good else _causes(reading, ended, usage))


def _causes(reading: Reading, ended: Ended, usage: Usage) -> list[Cause]:
    """Why it went wrong: by the cards, by the clock, by the logs. One that was stopped has none."""
    step = _step(reading)
    found = [] if ended.stopped else causes(reading.logs)
    hangs = ended.status is None and not ended.stopped
    if hangs and not any(cause.key.startswith("hang") for cause in found):
        values = {"step": step, "time": duration(ended.silent), "ranks": ""}
        found.insert(0, Cause("hang", values, None))
    return [*proof.causes(usage, step), *found]


def _step(reading: Reading) -> object:
    """The step that was reached, `-` for none."""
    reached = [log.seen.step for log in reading.logs if log.seen.step is not None]
    return max(reached, default="-")


def keep(found: Diagnosis, ended: Ended, usage: Usage, folder: Path) -> None:
    """Write the record of a run beside its log."""
    record = {**diagnose.to_json(found), "exit_status": ended.status, "stopped": ended.stopped,
              "seconds": math.floor(ended.seconds),
              "cards": {"before_mib": usage.before, "during_mib": usage.during,
                        "looks": usage.looks}}  # fmt: skip
    content = json.dumps(record, ensure_ascii=False, indent=1, default=str)
    (folder / "verdict.json").write_text(content + "\n", encoding="utf-8")
