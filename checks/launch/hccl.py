"""HCCL's variables before a run of several ranks: do they go together, and are its ports free?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from checks.machine import hccl_settings
from provision.words import text

# The ports that HCCL takes: so many from HCCL_IF_BASE_PORT on (hiascend.com, CANN 8.0.0).
_BASE, _PORTS = "60000", 16
_LISTEN = "0A"  # in /proc/net/tcp


def ports(given: Mapping[str, str]) -> range:
    """The ports that HCCL will take; none for a base that is no number, which is told elsewhere."""
    base = given.get("HCCL_IF_BASE_PORT") or _BASE
    return range(int(base), int(base) + _PORTS) if base.isdigit() else range(0)


def problems(given: Mapping[str, str]) -> Iterator[str]:
    """HCCL's variables have to go together, and its ports to be free."""
    own = {name: value for name, value in given.items() if name.startswith("HCCL_")}
    for found in hccl_settings.problems(own):
        if found.state == "error":
            yield replace(found, id=hccl_settings.CHECK.id).part("what")
    for port in sorted(_listening().intersection(ports(own))):
        yield text("launch.pre.port", port=port)


def _listening() -> set[int]:
    """The ports on which somebody listens; those of connections that come and go do not count."""
    found = set()
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            rows = Path("/proc/net", name).read_text(encoding="ascii").splitlines()[1:]
            fields = (row.split() for row in rows)
            found |= {int(own.rpartition(":")[2], 16) for _, own, _, state, *_ in fields
                      if state == _LISTEN}  # fmt: skip
    return found
