"""`smoke --level` for a program of PaddleNLP: its commands, or a run of it and the verdict."""

from __future__ import annotations

import json as json_module
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from checks.judge import diagnose, perplexity, training
from checks.judge.causes import causes
from checks.judge.diagnose import Diagnosis
from checks.judge.levels import Levels
from checks.judge.reading import Reading
from checks.judge.seen import Seen
from checks.judge.verdict import Cause
from checks.judge.which import judged, logs_in
from checks.launch import live, preflight
from checks.launch.script import script
from checks.launch.wish import Filled, Wish, differences, filled
from provision.console import show, show_json
from provision.errors import PaddockError
from provision.progress import duration
from provision.run import clean
from provision.site import Site
from provision.words import text

SCHEMA = "paddock/launch/1"


class Place(NamedTuple):
    """Where a level runs: the stack's Python, its variables, and where records are kept."""

    python: Path
    variables: Mapping[str, str]
    records: Path
    root: Path = Path("/")


def dry_run(wish: Wish, *, json: bool) -> int:
    """Print the commands of a level; nothing of this machine is looked at."""
    _, recipes = filled(wish)
    if json:
        rows = [_json(one, wish.target) for one in recipes]
        show_json({"schema": SCHEMA, "target": wish.target, "level": wish.level, "recipes": rows})
        return 0
    for one in recipes:
        show(script(one, wish.target).rstrip("\n"))
        show()
    return 0


def _json(one: Filled, target: str) -> dict[str, object]:
    recipe = one.recipe
    return {
        "name": recipe.name, "folder": recipe.folder, "program": recipe.program,
        "environment": one.environment, "arguments": one.arguments, "cards": list(one.cards),
        "degrees": one.degrees, "launcher": recipe.launcher, "script": script(one, target),
        "differences": list(differences(one)), "source": recipe.source, "seen": recipe.seen,
    }  # fmt: skip


def run(wish: Wish, *, json: bool) -> int:
    """Run the recipes of a level and judge them. Returns the exit status of the worst verdict.

    Raises PaddockError as `filled` does, `no-checkout-given`, `not-provisioned`,
    `launch-not-ready`.
    """
    known, recipes = filled(wish)
    site = Site(wish.target)
    if wish.checkout is None:
        raise PaddockError("no-checkout-given", recipe=recipes[0].recipe.name)
    if not site.python.exists():
        raise PaddockError("not-provisioned", target=wish.target, env=site.env)
    path = f"{site.python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    place = Place(site.python, {**clean(os.environ), "PATH": path}, site.state / "levels")
    return carry_out(known, recipes, place, json=json)


def carry_out(known: Levels, recipes: list[Filled], place: Place, *, json: bool) -> int:
    """Run recipes in a place, one after the other; the first that fails is the last."""
    say: Callable[[str], None] = (lambda line: None) if json else show
    found: list[Diagnosis] = []
    for one in recipes:
        _ready(one, known.device, place, say)
        folder, ended = _started(known, one, place, say)
        found.append(_verdict(known, one, folder, ended))
        _keep(found[-1], ended, folder)
        for line in () if json else diagnose.report(found[-1]):
            show(line)
        say(text("launch.kept", folder=folder))
        if ended.status != 0:
            break
    if json:
        rows = [diagnose.to_json(one) for one in found]
        show_json({"schema": SCHEMA, "target": known.target, "results": rows})
    return max(one.status for one in found)


def _ready(one: Filled, device: str, place: Place, say: Callable[[str], None]) -> None:
    """Raises PaddockError `launch-not-ready` with a line for each thing that is missing."""
    lines = preflight.missing(one, device, place.python, place.variables, place.root)
    if lines:
        values = {"recipe": one.recipe.name, "count": len(lines)}
        raise PaddockError("launch-not-ready", tuple(lines), **values)
    say(text("launch.ready", recipe=one.recipe.name))


def _started(
    known: Levels, one: Filled, place: Place, say: Callable[[str], None]
) -> tuple[Path, live.Ended]:
    """Run a recipe; the folder of its record with all logs that it left, and how it ended."""
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
    try:
        ended = live.run(argv, place.variables, folder, log, limits, _teller(known, say), ranks)
    finally:
        for path in ranks():  # the next run writes over them
            shutil.copyfile(path, folder / path.name)
    if ended.status is None:
        say(text("launch.silent", time=duration(ended.silent)))
    return folder, ended


def _teller(known: Levels, say: Callable[[str], None]) -> Callable[[Seen], None]:
    """Says how far a run is."""

    def tell(seen: Seen) -> None:
        found = training.figures(seen) if seen.train.count else perplexity.figures(seen, known)
        if "step" in found:
            left = found.get("seconds_left")
            time = duration(float(left)) if left is not None else "?"
            values = {name: found.get(name, "?") for name in ("step", "steps", "loss", "speed")}
            say(text("launch.step", left=time, **values))

    return tell


def _verdict(known: Levels, one: Filled, folder: Path, ended: live.Ended) -> Diagnosis:
    """The verdict on a recipe by the logs in its record and its exit status."""
    reading = Reading()
    for name in logs_in(str(folder)):
        reading.log(name)
    recipe = one.recipe
    exported = one.folder / recipe.exported if recipe.exported else None
    status = ended.status if ended.status is not None else -15
    verdict = judged(recipe.level, reading.logs, known, status, recipe.name, exported)
    found = [] if verdict.outcome == "passed" else causes(reading.logs)
    if ended.status is None and not any(cause.key.startswith("hang") for cause in found):
        step = next((log.seen.step for log in reading.logs if log.seen.step is not None), "-")
        values = {"step": step, "time": duration(ended.silent), "ranks": ""}
        found = [Cause("hang", values, None), *found]
    return Diagnosis(reading, [verdict], found)


def _keep(found: Diagnosis, ended: live.Ended, folder: Path) -> None:
    """Write the record of a run beside its log."""
    record = {**diagnose.to_json(found), "exit_status": ended.status,
              "seconds": math.floor(ended.seconds)}  # fmt: skip
    content = json_module.dumps(record, ensure_ascii=False, indent=1, default=str)
    (folder / "verdict.json").write_text(content + "\n", encoding="utf-8")
