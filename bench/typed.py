"""The stack as a person types it who has pip alone: the same steps, the same locks.

venv; `pip install` of each layer by hash and without dependencies, so that pip need not resolve;
`pip wheel` of both sources; `pip install` of the wheels. What pip would keep of an index depends on
what the index allows, so its warm cache is a folder of everything it needs: no network at all.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from bench.cost import Command
from bench.places import TOP
from provision.stack import Step
from provision.steps.base import Context
from provision.steps.wheel import paddle_version

Argv = list[str | Path]

_DOWNLOADS = TOP / "downloads"
_PINNED = ("--require-hashes", "--no-deps", "--no-build-isolation")
_LOCAL = ("--no-index", "--find-links", _DOWNLOADS)


def commands(context: Context, folder: Path) -> Iterator[Command]:
    """Everything below `folder`; the command of a step is made when its turn comes."""
    for step in context.stack.steps:
        if step.kind != "toolchain":
            yield _command(context, step, folder)


def filling(context: Context, folder: Path) -> Iterator[Command]:
    """Commands that fill the folder of downloads, and the cache of what pip builds from sources."""
    for step in context.stack.steps:
        if step.kind == "packages" and step.lock:
            lock = context.lock(step.lock)
            yield _pip(folder, "download", "--dest", _DOWNLOADS, *_PINNED, "-r", lock)
        if step.kind in ("venv", "packages"):
            yield _command(context, step, folder)


def _command(context: Context, step: Step, folder: Path) -> Command:
    """What to type for one step."""
    wheels = folder / "wheels"
    if step.kind == "venv":
        return Command([context.interpreter or "python3", "-m", "venv", folder / "env"], folder)
    if step.kind == "packages" and step.lock:
        return _pip(folder, "install", *_LOCAL, *_PINNED, "-r", context.lock(step.lock))
    if step.kind == "wheel":
        source = folder / str(step.source)
        shutil.copytree(context.folder / str(step.source), source)
        build = _pip(folder, "wheel", *_PINNED[1:], "--wheel-dir", wheels, source)
        return Command(build.argv, folder, {**build.variables, **_for_build(context, folder)})
    return _pip(folder, "install", "--no-index", "--no-deps", *sorted(wheels.glob("*.whl")))


def _pip(folder: Path, *arguments: str | Path) -> Command:
    """pip of the environment, its programs on PATH, its cache one that outlives the measure."""
    programs = folder / "env" / "bin"
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    argv: Argv = [programs / "python", "-m", "pip", *arguments]
    return Command(argv, folder, {"PATH": path, "PIP_CACHE_DIR": str(TOP / "pip")})


def _for_build(context: Context, folder: Path) -> dict[str, str]:
    """What the sources ask for: the Paddle to build against."""
    (paddle,) = (folder / "env").glob("lib/python3.*/site-packages/paddle")
    return {"PADDLE_DIR": str(paddle), "PADDLE_VERSION": paddle_version(context)}
