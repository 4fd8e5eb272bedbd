"""How many compilers a machine can run at once without running out of memory."""

from __future__ import annotations

import os
import re
from pathlib import Path

from provision.facts import small

MIB = 1 << 20
_GROUPS = (
    ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current"),
    ("sys/fs/cgroup/memory/memory.limit_in_bytes", "sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def free_memory(root: Path = Path("/")) -> int | None:
    """The memory in bytes that is left: the machine's, or the container's where that is less."""
    text = small.text(root / "proc/meminfo") or ""
    found = re.search(r"^MemAvailable: +([0-9]{1,15}) kB$", text, re.MULTILINE)
    amounts = [int(found[1]) * 1024] if found else []
    for limit, used in _GROUPS:
        most, now = small.number(root / limit), small.number(root / used)
        if most is not None and now is not None:
            amounts.append(max(0, most - now))
    return min(amounts, default=None)


def jobs(units: int, each: int, root: Path = Path("/")) -> int:
    """Compilers side by side for so many source files, each of which takes `each` bytes.

    No more than there are processors and files, at least one; memory that cannot be read limits
    nothing.
    """
    free = free_memory(root)
    fit = free // each if free is not None else units
    processors = len(os.sched_getaffinity(0))
    return max(1, min(processors, units or 1, fit))


def units(folder: Path) -> int:
    """The C++ files below a folder, those of tests left out."""
    files = (path for path in folder.rglob("*.cc") if path.is_file())
    return sum("tests" not in path.relative_to(folder).parts for path in files)
