"""A stack from nothing: the tool against pip, its commands typed one after another.

The pip side follows the same steps with the same locks: venv, `pip install` of each layer by hash
and without dependencies (so pip need not resolve), `pip wheel` of both sources, `pip install` of
the wheels. Package caches are warm on both sides, everything else is fresh; smoke tests run on
neither. Both are left at their defaults: pip byte-compiles what it installs, the tool leaves that
to the first import; ninja chooses the number of compilers for pip, the tool for itself.
"""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from bench.cost import Command, CommandFailed, Cost, medians, ratio, run
from bench.places import TARGET, TOP, package_cache, scratch, tool
from bench.result import Result
from bench.watch import Watched, watch
from provision.engine import Options, prepare
from provision.facts.compilers import compiler
from provision.stack import Step
from provision.steps.base import Context
from provision.steps.wheel import paddle_version

Argv = list[str | Path]

N = 2
MEGABYTES = 120  # of the tool's own process


def _only(context: Context, kinds: tuple[str, ...]) -> str:
    """The steps of these kinds, as `--only` wants them."""
    return ",".join(step.name for step in context.stack.steps if step.kind in kinds)


def _provision(home: Path, steps: str) -> Command:
    return tool("provision", "--target", TARGET, "--yes", "--only", steps, home=home)


def _typed(context: Context, folder: Path, kinds: tuple[str, ...]) -> Iterator[Command]:
    """The commands of a person who has pip alone; a step's own is made when its turn comes."""
    for step in context.stack.steps:
        if step.kind in kinds:
            yield _command(context, step, folder)


def _command(context: Context, step: Step, folder: Path) -> Command:
    """What to type for one step, everything below `folder`."""
    env = folder / "env"
    pip: Argv = [env / "bin" / "python", "-m", "pip"]
    wheels = folder / "wheels"
    if step.kind == "venv":
        return _with_pip([context.interpreter or "python3", "-m", "venv", env], env)
    if step.kind == "packages" and step.lock:
        pinned = ["--require-hashes", "--no-deps", "--no-build-isolation", "-r"]
        return _with_pip([*pip, "install", *pinned, context.lock(step.lock)], env)
    if step.kind == "wheel":
        source: Path = shutil.copytree(context.folder / str(step.source), folder / str(step.source))
        build: Argv = ["--no-deps", "--no-build-isolation", "--wheel-dir", wheels, source]
        return _with_pip([*pip, "wheel", *build], env, _for_build(context, env))
    made = sorted(wheels.glob("*.whl"))
    return _with_pip([*pip, "install", "--no-index", "--no-deps", *made], env)


def _for_build(context: Context, env: Path) -> dict[str, str]:
    """What the sources ask for: the build tools on PATH, the Paddle to build against."""
    (paddle,) = env.glob("lib/python3.*/site-packages/paddle")
    return {"PADDLE_DIR": str(paddle), "PADDLE_VERSION": paddle_version(context)}


def _with_pip(argv: Argv, env: Path, more: dict[str, str] | None = None) -> Command:
    """A command in the environment, with a pip cache that outlives the measure."""
    path = f"{env / 'bin'}{os.pathsep}{os.environ['PATH']}"
    variables = {"PATH": path, "PIP_CACHE_DIR": str(TOP / "pip"), **(more or {})}
    return Command(argv, env.parent, variables)


_PACKAGES = ("venv", "packages")
_ALL = ("toolchain", "venv", "packages", "wheel", "install")


def _total(commands: Iterator[Command]) -> Cost:
    return functools.reduce(Cost.__add__, map(run, commands))


def _pair(context: Context) -> tuple[Watched, Cost]:
    """One run of each side, on a terminal for ours: the person of this measure sits there."""
    with scratch() as folder:
        ours = watch(_provision(folder / "home", _only(context, _ALL)))
    with scratch() as folder:
        theirs = _total(_typed(context, folder, _ALL[1:]))
    return ours, theirs


def _warm(context: Context) -> None:
    """Fill both package caches; nothing is compiled."""
    with scratch() as folder:
        run(_provision(folder / "home", _only(context, _PACKAGES)))
    with scratch() as folder:
        _total(_typed(context, folder, _PACKAGES))


def cold() -> list[Result]:
    """The time of a whole stack, and the most memory that the tool itself took meanwhile."""
    if compiler() is None:
        raise CommandFailed("no C++ compiler: both sides of this measure need one")
    context = prepare(Options(TARGET))
    package_cache().mkdir(parents=True, exist_ok=True)
    _warm(context)
    pairs = [_pair(context) for _ in range(N)]
    ours, theirs = [one.cost for one, _ in pairs], [cost for _, cost in pairs]
    peak = max(one.peak for one, _ in pairs)
    return [
        Result("cold provision / pip", ratio(ours, theirs), "x", 0.5, N, medians(ours, theirs)),
        Result("peak memory of the tool", peak, " MB", MEGABYTES, N, "during the cold provision"),
    ]
