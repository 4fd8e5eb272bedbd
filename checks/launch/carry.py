"""Carries out recipes: each looked at before, watched, judged, and kept."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from checks.judge import diagnose, perplexity, training
from checks.judge.levels import Levels
from checks.judge.seen import Seen
from checks.launch import live, preflight, record
from checks.launch.judging import keep, verdict
from checks.launch.preflight import Place
from checks.launch.record import Result
from checks.launch.script import script
from checks.launch.watch import Usage, watched
from checks.launch.wish import Filled
from checks.runs.telling import note
from provision import stack
from provision.amounts import duration
from provision.console import show, show_json
from provision.errors import INTERRUPTED, PaddockError
from provision.facts.loading import load
from provision.words import text

SCHEMA = "paddock/launch/1"
Say = Callable[[str], None]


def carry_out(known: Levels, recipes: list[Filled], place: Place, *, json: bool) -> int:
    """Run recipes in a place, one after the other; the first that fails is the last.

    Returns the worst exit status. Raises PaddockError `launch-not-ready`, and KeyboardInterrupt
    once what there was has been judged and kept.
    """
    say: Say = (lambda line: None) if json else show
    results: list[Result] = []
    stand_in: str | None = None
    try:
        for one in recipes:
            _ready(one, known, place, say)
            if not results and (stand_in := _stand_in(known.device, place)):
                say(stand_in)
            results.append(_carried(known, one, place, say))
            if results[-1].ended.status != 0:
                break
    finally:
        for line in _recorded(results, known, stand_in):
            say(line)
    if json:
        rows = [diagnose.to_json(one.found) for one in results]
        show_json({"schema": SCHEMA, "target": known.target, "stand_in": stand_in, "results": rows})
    if results[-1].ended.stopped:
        if json:  # the answer is out, and is one object
            return INTERRUPTED
        raise KeyboardInterrupt
    return max(one.found.status for one in results)


def _carried(known: Levels, one: Filled, place: Place, say: Say) -> Result:
    """Run one recipe, and say what came of it."""
    folder, ended, usage = _started(known, one, place, say)
    found = verdict(known, one, folder, ended, usage)
    keep(found, ended, usage, folder)
    for line in diagnose.report(found):
        say(line)
    say(text("launch.kept", folder=folder))
    return Result(one, folder, ended, found, usage)


def _ready(one: Filled, known: Levels, place: Place, say: Say) -> None:
    """Raises PaddockError `launch-not-ready` with a line for each thing that is missing."""
    found = preflight.look(one, known, place)
    if found.missing:
        values = {"recipe": one.recipe.name, "count": len(found.missing)}
        raise PaddockError("launch-not-ready", (*found.missing, *found.notes), **values)
    say(text("launch.ready", recipe=one.recipe.name))
    for line in found.notes:
        say(f"  {line}")


def _stand_in(device: str, place: Place) -> str | None:
    """The sentence that a plugin in host memory serves the device; None where none does."""
    served = device in load(place.python, device, variables=place.variables).host_memory
    return text("launch.stand-in", device=device) if served else None


def _recorded(results: Sequence[Result], known: Levels, stand_in: str | None) -> Sequence[str]:
    """Keep the record of what ran; lines for what got worse, or could not be kept."""
    if not results:
        return ()
    file = stack.stack_file(known.target)
    return list(note(stack.load(file), file.parent, record.report(results, known, stand_in)))


def _started(known: Levels, one: Filled, place: Place, say: Say) -> tuple[Path, live.Ended, Usage]:
    """Run a recipe; the folder with all its logs, how it ended, and its cards meanwhile."""
    recipe, began = one.recipe, time.time()
    stamp = time.strftime("%Y%m%dT%H%M%S", time.localtime(began))
    place.records.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{recipe.name}-{stamp}-", dir=place.records))
    log, file = folder / "run.log", folder / "run.sh"
    file.write_text(script(one, known.target), encoding="utf-8")
    say(text("launch.started", recipe=recipe.name, log=log))

    def ranks() -> list[Path]:
        found = (one.folder / recipe.log_dir).glob("workerlog.*") if recipe.log_dir else ()
        return [path for path in found if path.stat().st_mtime >= began - 1]

    limits = live.Limits(recipe.first_minutes * 60, recipe.silent_minutes * 60)
    argv: list[str | Path] = ["bash", file]
    with watched(known.device, one.cards, say) as usage:
        try:
            ended = live.run(argv, place.variables, folder, log, limits, _teller(known, say), ranks)
        finally:
            for path in ranks():  # the next run writes over them
                shutil.copyfile(path, folder / path.name)
    if ended.status is None and not ended.stopped:
        say(text("launch.silent", time=duration(ended.silent)))
    return folder, ended, usage


def _teller(known: Levels, say: Say) -> Callable[[Seen], None]:
    """Says how far a run is."""

    def tell(seen: Seen) -> None:
        found = training.figures(seen) if seen.train.count else perplexity.figures(seen, known)
        if "step" in found:
            left = found.get("seconds_left")
            time = duration(float(left)) if left is not None else "?"
            values = {name: found.get(name, "?") for name in ("step", "steps", "loss", "speed")}
            say(text("launch.step", left=time, **values))

    return tell
