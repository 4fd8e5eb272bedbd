"""A build of unchanged sources: it starts no compiler.

A compiler that notes each start stands in for the machine's. The first build shows that it is
really used; the second is `paddock build-ops` again; then the same steps are forced to run, with
the build tree they left behind.
"""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path

from bench.cost import Command, CommandFailed, Cost, run
from bench.places import TARGET, scratch, tool
from bench.result import Result
from provision.facts.compilers import compiler
from provision.stack import load, stack_file


def _counting(folder: Path) -> tuple[Path, Path]:
    """A compiler that appends a line to a file for each object it makes, and that file."""
    real = compiler()
    if real is None:
        raise CommandFailed("no C++ compiler: this measure builds the plugin")
    log, script = folder / "started", folder / "c++"
    log.touch()
    script.write_text(
        f'#!/bin/sh\necho "$*" >> {shlex.quote(str(log))}\nexec {shlex.quote(str(real))} "$@"\n'
    )
    script.chmod(0o755)
    return script, log


def _started(command: Command, log: Path) -> tuple[Cost, int]:
    """The cost of a build and the number of compilers it started."""
    log.write_text("")
    cost = run(command)
    return cost, len(log.read_text().splitlines())


def _wheels(home: Path) -> set[tuple[str, int]]:
    """The wheels built in this home, with the times when they were written."""
    return {(str(path), path.stat().st_mtime_ns) for path in home.glob("data/wheels/**/*.whl")}


def rebuild() -> list[Result]:
    """Compilers started by a second build, and by one that is forced."""
    wheels = [step.name for step in load(stack_file(TARGET)).steps if step.kind == "wheel"]
    with scratch() as folder:
        script, log = _counting(folder)
        build = _with(tool("build-ops", "--yes", home=folder / "home"), CXX=str(script))
        only = ["--only", ",".join(wheels), "--from", wheels[0]]
        force = tool("provision", "--target", TARGET, *only, home=folder / "home")
        first, compiled = _started(build, log)
        if not compiled:
            raise CommandFailed("the first build started no compiler: the count is worth nothing")
        again, none = _started(build, log)
        before = _wheels(folder / "home")
        forced, zero = _started(_with(force, CXX=str(script)), log)
        if len(_wheels(folder / "home") - before) < len(wheels):
            raise CommandFailed("the forced build made no new wheels: the count is worth nothing")
    detail = f"the first: {compiled} compilers, {first.wall:.1f} s; this one: "
    return [
        Result("compilers of a second build-ops", none, "", 0, 1, f"{detail}{again.wall:.2f} s"),
        Result("compilers of a forced build", zero, "", 0, 1, f"{detail}{forced.wall:.2f} s"),
    ]


def _with(command: Command, **variables: str) -> Command:
    """The command with more variables."""
    return dataclasses.replace(command, variables={**command.variables, **variables})
