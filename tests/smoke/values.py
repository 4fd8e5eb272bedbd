"""What the smoke tests' own tests share: made-up events, and the probes' modules."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from checks.smoke.process import Ended, Event
from checks.smoke.run import PROBES

COUNTED = {"kernels": {"fill": 1}, "copies": {"h2d": {"count": 2}, "d2h": {"count": 3}}}
LATER = {
    "kernels": {"fill": 5, "contiguous": 2, "strided_copy": 0},
    "copies": {"h2d": {"count": 9}, "d2h": {"count": 8}},
}


def check(name: str, passed: bool = True) -> list[Event]:
    """The two events of one check."""
    error = None if passed else "AssertionError: wrong"
    done = {"detail": "seen", "seconds": 0.5, "error": error}
    return [
        {"event": "start", "name": name},
        {"event": "check", "name": name, "passed": passed, **done},
    ]


def begin(counters: dict[str, Any] = COUNTED) -> Event:
    """The event before the first check."""
    return {"event": "begin", "registered": ["cpu", "loopback"], "counters": counters}


def proof(place: str = "loopback:0", counters: dict[str, Any] | None = LATER, **more: int) -> Event:
    """The event that says where results were."""
    return {"event": "proof", "places": {place: 7, **more}, "counters": counters}


def good() -> list[Event]:
    """The events of a probe that passed."""
    return [begin(), *check("one"), *check("two"), proof(), {"event": "end"}]


def ended(events: list[Event], status: int | None = 0) -> Ended:
    """A probe that ended so."""
    return Ended(status, 30.0, 1.5, events, {"matmul": 4}, ("the last line",))


def probe(name: str) -> ModuleType:
    """A module of the probes that needs neither paddle nor its siblings."""
    spec = importlib.util.spec_from_file_location(name, Path(PROBES) / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
