"""What reading a big log costs against `grep -c` for one fixed string in it, and its memory."""

from __future__ import annotations

from pathlib import Path

from bench.cost import Command, in_turn, medians, ratio
from bench.result import Result
from bench.watch import watch

N = 5
TIMES = 2  # the tool looks for hundreds of words, and starts a Python


def against_grep(name: str, mine: Command, log: Path, word: str, megabytes: int) -> list[Result]:
    """The figures of a task that reads this log, in which `word` is; its memory has a budget."""
    ours, theirs = in_turn([mine, Command(["grep", "-c", word, log])], N)
    peak = watch(mine).peak
    detail = medians(ours, theirs)
    return [
        Result(f"{name} / grep -c", ratio(ours, theirs), "x", TIMES, N, detail),
        Result(f"peak memory of {name}", peak, " MB", megabytes, 1, "the same log"),
    ]
