"""How many compilers a machine can run at once without running out of memory."""

from __future__ import annotations

import os
from pathlib import Path

from provision.facts.memory_left import memory_left


def jobs(units: int, each: int, root: Path = Path("/")) -> int:
    """Compilers side by side for so many source files, each of which takes `each` bytes.

    No more than there are processors and files, at least one; memory that cannot be read limits
    nothing.
    """
    free = memory_left(root)
    fit = free // each if free is not None else units
    processors = len(os.sched_getaffinity(0))
    return max(1, min(processors, units or 1, fit))


def units(folder: Path) -> int:
    """The C++ files below a folder, those of tests left out."""
    files = (path for path in folder.rglob("*.cc") if path.is_file())
    return sum("tests" not in path.relative_to(folder).parts for path in files)
