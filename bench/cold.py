"""A stack from nothing: the tool against pip, its commands typed one after another.

Package caches are warm on both sides, everything else is fresh; smoke tests run on neither. Both
are left at their defaults: pip byte-compiles what it installs, the tool leaves that to the first
import; ninja chooses the number of compilers for pip, the tool for itself.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from bench import typed
from bench.cost import Command, CommandFailed, Cost, medians, ratio, run
from bench.places import TARGET, package_cache, scratch, tool
from bench.result import Result
from bench.watch import Watched, watch
from provision.engine import Options, prepare
from provision.facts.compilers import compiler
from provision.steps.base import Context

N = 2
MEGABYTES = 120  # of the tool's own process


def _provision(context: Context, home: Path, *kinds: str) -> Command:
    """The steps of these kinds, or all; no smoke tests."""
    names = [step.name for step in context.stack.steps if not kinds or step.kind in kinds]
    only = ["--only", ",".join(names)]
    return tool("provision", "--target", TARGET, "--yes", *only, home=home)


def _total(commands: Iterator[Command]) -> Cost:
    """The cost of commands, one after another."""
    return functools.reduce(Cost.__add__, map(run, commands))


def _pair(context: Context) -> tuple[Watched, Cost]:
    """One run of each side; ours on a terminal, where it shows and so needs the most."""
    with scratch() as folder:
        ours = watch(_provision(context, folder / "home"))
    with scratch() as folder:
        theirs = _total(typed.commands(context, folder))
    return ours, theirs


def _warm(context: Context) -> None:
    """Fill both package caches."""
    package_cache().mkdir(parents=True, exist_ok=True)
    with scratch() as folder:
        run(_provision(context, folder / "home", "venv", "packages"))
    with scratch() as folder:
        _total(typed.filling(context, folder))


def cold() -> list[Result]:
    """The time of a whole stack, and the most memory that the tool itself took meanwhile."""
    if compiler() is None:
        raise CommandFailed("no C++ compiler: both sides of this measure need one")
    context = prepare(Options(TARGET))
    _warm(context)
    pairs = [_pair(context) for _ in range(N)]
    ours, theirs = [one.cost for one, _ in pairs], [cost for _, cost in pairs]
    peak = max(one.peak for one, _ in pairs)
    return [
        Result("cold provision / pip", ratio(ours, theirs), "x", 0.5, N, medians(ours, theirs)),
        Result("peak memory of the tool", peak, " MB", MEGABYTES, N, "during the cold provision"),
    ]
