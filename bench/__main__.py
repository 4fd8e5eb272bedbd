"""`paddock bench [--select NAME]`, or `python -m bench [NAME]` from the repository's root."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import Final

from bench import again, cold, rebuild, start
from bench.result import Result

MEASURES: Final[dict[str, Callable[[], Sequence[Result]]]] = {
    "list": start.listing,
    "launcher": start.launcher,
    "doctor": start.doctor,
    "again": again.provision_again,
    "rebuild": rebuild.rebuild,
    "cold": cold.cold,
}


def main() -> int:
    """Run the chosen measures, or all; 0 when every budget is kept, else 1."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("name", nargs="?", choices=MEASURES, help="one measure alone")
    name = parser.parse_args().name
    # Python keeps compiled modules for everybody who has not switched that off.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    within = True
    for measure in [MEASURES[name]] if name else MEASURES.values():
        for result in measure():
            print(result.line(), flush=True)
            within = within and result.within
    return 0 if within else 1


if __name__ == "__main__":
    raise SystemExit(main())
