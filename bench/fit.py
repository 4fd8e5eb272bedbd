"""What the answer of `paddock fit` costs on top of Invoke's own start."""

from __future__ import annotations

from dataclasses import replace

from bench.cost import extra, in_turn, medians
from bench.places import bare, scratch, tool
from bench.result import Result

N = 21
_NO = (11,)  # a run that does not fit: the changes that would make it fit are searched, too
_RUNS = {
    "fit": ("--model", "llama2-13b", "--tp", "8", "--card", "910B3"),
    "fit, searching": ("--model", "llama2-70b", "--batch", "4", "--card", "910B4"),
}


def fit() -> list[Result]:
    """A run that fits, and one for which the whole search is made, minus a bare Invoke task."""
    found = []
    for name, flags in _RUNS.items():
        ours = tool("fit", "--target", "ascend910b", "--train", *flags)
        with scratch() as folder:
            mine, theirs = in_turn(
                [replace(ours, statuses=(0,) if name == "fit" else _NO), bare(folder, "build")], N
            )
        milliseconds = extra(mine, theirs) * 1000
        label = f"{name} - bare invoke"
        found.append(Result(label, milliseconds, " ms", 60, N, medians(mine, theirs)))
    return found
