"""The memory that this process can still have: the machine's, within the limits of its groups."""

from __future__ import annotations

import re
from pathlib import Path

from provision.facts import small
from provision.facts.machine import UNLIMITED, limit_files, meminfo

_USED = {"memory.max": "memory.current", "memory.limit_in_bytes": "memory.usage_in_bytes"}
# What the kernel gives up before a group runs out: files that were read and not used for long.
_GIVEN_UP = re.compile(r"^(?:total_)?inactive_file ([0-9]{1,19})$", re.MULTILINE)


def memory_left(root: Path = Path("/")) -> int | None:
    """Bytes that are free or given up on demand; None where the machine does not tell."""
    available = meminfo(small.text(root / "proc/meminfo") or "").get("MemAvailable")
    if available is None:
        return None
    limits = ((file, small.number(file)) for file in limit_files(root))
    return min([available, *(
        max(0, most - _used(file)) for file, most in limits if most is not None and most < UNLIMITED
    )])  # fmt: skip


def _used(limit: Path) -> int:
    """What a group with this limit holds that it cannot give up; 0 where that is not told."""
    now = small.number(limit.with_name(_USED[limit.name])) or 0
    given = _GIVEN_UP.findall(small.text(limit.with_name("memory.stat")) or "")
    return max(0, now - max(map(int, given), default=0))
