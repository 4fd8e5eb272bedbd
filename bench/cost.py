"""What a whole process costs, and how the costs of two commands compare.

The machine drifts (other work, clock rates), so the commands take turns, A B A B, and each run is
compared with its neighbour. One round before the first is not counted: it fills the caches.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median


class CommandFailed(Exception):
    """A measured command did not do its work; the argument shows it and its last lines."""


@dataclass(frozen=True)
class Command:
    """A process to start: `variables` come on top of this environment's."""

    argv: Sequence[str | Path]
    folder: Path = Path("/")
    variables: Mapping[str, str] = field(default_factory=dict)
    statuses: Sequence[int] = (0,)

    def check(self, status: int, output: bytes) -> None:
        """Raises CommandFailed where the status is none of `statuses`."""
        if status not in self.statuses:
            tail = output.decode(errors="replace").splitlines()[-20:]
            line = " ".join(map(str, self.argv))
            raise CommandFailed("\n".join([f"{line}: exit status {status}", *tail]))


@dataclass(frozen=True)
class Cost:
    """Seconds on the clock, and seconds of processor (user + system) with all its children."""

    wall: float
    cpu: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.wall + other.wall, self.cpu + other.cpu)


def run(command: Command) -> Cost:
    """Run one command to its end, its output out of sight. Raises CommandFailed."""
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            command.argv, cwd=command.folder, env={**os.environ, **command.variables},
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        command.check(process.returncode, output.read())
    return Cost(wall, usage.ru_utime + usage.ru_stime)


def output_of(command: Command) -> str:
    """What one command prints to standard output. Raises CommandFailed."""
    done = subprocess.run(
        command.argv, cwd=command.folder, env={**os.environ, **command.variables},
        stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )  # fmt: skip
    command.check(done.returncode, done.stdout + done.stderr)
    return done.stdout.decode()


def in_turn(commands: Sequence[Command], n: int) -> list[list[Cost]]:
    """The costs of `n` runs of each command, in the order given; the commands take turns."""
    rounds = [[run(command) for command in commands] for _ in range(n + 1)][1:]
    return [list(costs) for costs in zip(*rounds, strict=True)]


def ratio(ours: Sequence[Cost], theirs: Sequence[Cost]) -> float:
    """Wall time of ours over theirs: the median over the pairs."""
    return median(a.wall / b.wall for a, b in zip(ours, theirs, strict=True))


def extra(ours: Sequence[Cost], theirs: Sequence[Cost]) -> float:
    """Wall time of ours minus theirs, in seconds: the median over the pairs."""
    return median(a.wall - b.wall for a, b in zip(ours, theirs, strict=True))


def medians(ours: Sequence[Cost], theirs: Sequence[Cost]) -> str:
    """Both sides for a person: the medians of wall and of processor time, in ms or s."""
    sides = [
        (median(cost.wall for cost in side), median(cost.cpu for cost in side))
        for side in (ours, theirs)
    ]
    (our_wall, our_cpu), (their_wall, their_cpu) = sides
    unit, scale = ("s", 1) if max(our_wall, their_wall) > 10 else ("ms", 1000)
    return (
        f"wall {our_wall * scale:.0f} / {their_wall * scale:.0f} {unit} = "
        f"{our_wall / their_wall:.3g}x, cpu {our_cpu * scale:.0f} / {their_cpu * scale:.0f} {unit}"
        f" = {our_cpu / their_cpu:.3g}x"
    )
