"""`paddock bench [--select NAME]`, or `python -m bench [NAME]` from the repository's root."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

from bench import (
    again,
    cards,
    cold,
    explain,
    fit,
    judge,
    ops,
    rebuild,
    render,
    start,
    vendor,
    wheel,
)
from bench.cost import CommandFailed
from bench.result import Result

Measure = Callable[[], Sequence[Result]]

MEASURES: Final[dict[str, Measure]] = {
    "list": start.listing,
    "launcher": start.launcher,
    "doctor": start.doctor,
    "cards": cards.cards,
    "explain": explain.explain,
    "wheel": wheel.wheel,
    "fit": fit.fit,
    "judge": judge.judge,
    "render": render.render,
    "again": again.provision_again,
    "rebuild": rebuild.rebuild,
    "ops": ops.ops,
    "lab": vendor.lab,
    "overlap": vendor.overlap,
    "cold": cold.cold,
}


def main() -> int:
    """Run the chosen measures, or all; 0 when every budget is kept, else 1.

    A measure that cannot be taken counts as a budget that is not kept.
    """
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("name", nargs="?", choices=MEASURES, help="one measure alone")
    name = parser.parse_args().name
    # Python keeps compiled modules for everybody who has not switched that off.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    kept = [_kept(measure) for measure in ([MEASURES[name]] if name else MEASURES.values())]
    return 0 if all(kept) else 1


def _kept(measure: Measure) -> bool:
    """Take one measure and print its lines; whether all its budgets are kept."""
    try:
        results = measure()
    except CommandFailed as error:
        print(error, file=sys.stderr, flush=True)
        return False
    for result in results:
        print(result.line(), flush=True)
    return all(result.within for result in results)


if __name__ == "__main__":
    raise SystemExit(main())
