"""What it takes to render everything: each target, each release, each form, in one process.

Beside it a bare Invoke task in the same environment. Our process imports Invoke and the tasks too,
so the difference is what the rendering adds to Invoke's start.
"""

from __future__ import annotations

from bench.cost import Command, extra, in_turn, medians
from bench.places import bare, programs, scratch
from bench.result import Result
from provision.paths import ROOT

N = 15
_EVERYTHING = """
import sys
sys.path.insert(0, sys.argv[1])
import tasks
from provision import stack
from provision.forms.registry import FORMS
from provision.forms.wanted import Wanted
from provision.paths import IMAGES, targets
size = 0
for target in targets():
    folder = IMAGES / target
    loaded = stack.load(folder / "stack.toml")
    for release in loaded.releases:
        if (folder / "locks" / release).is_dir():
            wanted = Wanted(loaded, folder, release, base="base:1@sha256:" + "ab" * 32)
            size += sum(len(render(wanted)) for render in FORMS.values())
assert size > 100_000 and tasks.namespace, size
"""


def render() -> list[Result]:
    """All texts of all releases, minus a bare task."""
    everything = Command([programs() / "python", "-c", _EVERYTHING, ROOT], ROOT)
    with scratch() as folder:
        ours, plain = in_turn([everything, bare(folder, "build")], N)
    figure = extra(ours, plain) * 1000
    return [Result("render all - bare invoke", figure, " ms", 300, N, medians(ours, plain))]
