"""What a start costs: the list of tasks, the launcher, and the doctor.

Both sides are whole processes in the tool's environment, so the difference is what this project
adds to Invoke. The doctor runs for the target without a card, in a home where nothing is
installed; its trial of the compiler falls into the round that is not counted.
"""

from __future__ import annotations

from dataclasses import replace

from bench.cost import Command, extra, in_turn, medians, ratio
from bench.places import TARGET, bare, scratch, tool
from bench.result import Result
from provision.paths import ROOT

N = 21
_FOUND = (0, 10, 11, 12)  # of the doctor: whatever its verdict, it has done its work


def listing() -> list[Result]:
    """`paddock --list` against `invoke --list` of a project of two tasks."""
    with scratch() as folder:
        ours, theirs = in_turn([tool("--list"), bare(folder, "--list")], N)
    return [Result("list / bare invoke", ratio(ours, theirs), "x", 1.25, N, medians(ours, theirs))]


def launcher() -> list[Result]:
    """`./paddock --list`, its environment being there, minus the Python that it starts."""
    direct = tool("--list")
    ours, theirs = in_turn([Command([ROOT / "paddock", "--list"], ROOT), direct], N)
    milliseconds = extra(ours, theirs) * 1000
    return [Result("launcher - python", milliseconds, " ms", 30, N, medians(ours, theirs))]


def doctor() -> list[Result]:
    """`paddock doctor` on a fresh home, minus a bare Invoke task."""
    with scratch() as folder:
        examine = tool("doctor", "--target", TARGET, home=folder / "home")
        ours, theirs = in_turn([replace(examine, statuses=_FOUND), bare(folder, "build")], N)
    milliseconds = extra(ours, theirs) * 1000
    return [Result("doctor - bare invoke", milliseconds, " ms", 150, N, medians(ours, theirs))]
