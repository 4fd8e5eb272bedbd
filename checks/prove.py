"""`smoke`: the smoke levels, or the perplexity of a text, in the installed environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from checks.known import smoke_failed
from checks.runs.telling import note
from checks.smoke import listing
from checks.smoke.run import levels_of, run_smoke, settings_of
from checks.smoke.show import text_lines
from checks.smoke.sourced import sourced
from checks.smoke.text import evaluate as evaluate_text
from provision import seal, stack
from provision.arguments import one_of
from provision.console import show, show_json
from provision.errors import PaddockError
from provision.run import clean
from provision.site import Site
from provision.stream import say

CPU = "cpu"  # Paddle's name of it


def _installed(target: str) -> tuple[Path, str, dict[str, str]]:
    """The environment's interpreter, the device of a target, and the variables for its tests.

    Raises PaddockError `unknown-target`, `not-provisioned`, `settings-failed`.
    """
    loaded = stack.load(stack.stack_file(target))
    site = Site(target)
    if not site.python.exists():
        raise PaddockError("not-provisioned", target=target, env=site.env)
    return site.python, loaded.device, sourced(clean(os.environ), loaded.settings)


def launched(target: str, level: str) -> bool:
    """Whether a level of training or deployment is no test of the stack but a program's run."""
    own = settings_of(stack.stack_file(target).parent).levels
    return level in ("train", "deploy") and level not in own and level in listing.programs(target)


def levels(target: str, level: str, device: str = "", *, json: bool) -> int:
    """Run the levels and show each as it ends. Returns 0.

    `device`: the target's own, or "cpu" to run the same on the CPU of its environment. Raises
    PaddockError `bad-option`, `smoke-failed`, or `smoke-known` where what the levels said shows the
    cause.
    """
    folder = stack.stack_file(target).parent
    settings = settings_of(folder)
    wanted = levels_of(level, settings.levels, listing.programs(target))
    one_of("--device", device, ("", settings.device, CPU))
    python, own, variables = _installed(target)
    on = device or own
    report = run_smoke(python, on, settings, variables, None if json else show, wanted)
    notes = note(stack.load(folder / "stack.toml"), folder, report)
    for line in notes:
        say(sys.stderr if json else sys.stdout, f"  {line}")
    if json:
        show_json(msgspec.to_builtins(report))
    if not report.passed:
        if on == own:
            seal.lift(Site(target))  # so that the next provision looks closely again
        raise smoke_failed(report, target)
    return 0


def evaluate(target: str, file: Path, window: int, *, json: bool) -> int:
    """Print tokens, loss and perplexity of a text."""
    python, device, variables = _installed(target)
    settings = settings_of(stack.stack_file(target).parent)
    report = evaluate_text(python, device, file, window, settings, variables)
    if json:
        show_json(msgspec.to_builtins(report))
        return 0
    for line in text_lines(report):
        show(line)
    return 0
