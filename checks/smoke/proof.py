"""What the events of a probe prove: where it computed, on what, and by which kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from checks.smoke.process import Event
from provision.words import text

# The one device type that by its name is in host memory: any other one there is a stand-in.
HOST_MEMORY = "loopback"


def stand_in(events: Sequence[Event], device: str) -> str | None:
    """The sentence that a library in host memory stood in for a card; None where none did."""
    library = last(events, "begin").get("host_memory")
    if not library or device == HOST_MEMORY:
        return None
    return text("smoke.stand-in", device=device, library=library)


def counters(events: Sequence[Event]) -> dict[str, Any] | None:
    """What the plugin had counted at the end; None where it tells no counts."""
    found: dict[str, Any] | None = last(events, "proof").get("counters", {})
    return found


def elsewhere(events: Sequence[Event], device: str) -> str | None:
    """Why it is not proven that a probe ran on the device; None when it is.

    Proof are the places of its results and, but for the CPU, copies in both directions that the
    device's plugin has counted meanwhile; where it tells no counts, that Paddle has its type.
    """
    begin, proof = last(events, "begin"), last(events, "proof")
    places: dict[str, int] = proof.get("places", {})
    strays = [place for place in places if place.partition(":")[0] != device]
    if strays or not places:
        found = ", ".join(strays) or text("smoke.nowhere")
        return text("smoke.place.elsewhere", places=found, device=device)
    if device == "cpu":
        return None
    before, after = begin.get("counters", {}), counters(events)
    if before is None and after is None:
        known = device in begin.get("registered", ())
        return None if known else text("smoke.place.unregistered", device=device)
    before, after = before or {}, after or {}
    for way in ("h2d", "d2h"):
        if copies(after, way) <= copies(before, way):
            why = after.get("unavailable") or text("smoke.place.no-copy")
            return text("smoke.place.unproven", device=device, way=way, why=why)
    return None


def copies(counters: Mapping[str, Any], way: str) -> int:
    """How many copies a plugin has counted in one direction."""
    return int(counters.get("copies", {}).get(way, {}).get("count", 0))


def native_of(events: Sequence[Event]) -> Counter[str]:
    """The backend's kernels that ran: those its plugin counted, and its fused operators."""
    before = (last(events, "begin").get("counters") or {}).get("kernels", {})
    after = (counters(events) or {}).get("kernels", {})
    found = Counter({name: n - before.get(name, 0) for name, n in after.items()})
    for event in events:
        if event["event"] == "ran":
            found.update(event["kernels"])
    return +found


def last(events: Sequence[Event], kind: str) -> Event:
    """The last event of a kind, or an empty one."""
    return next((event for event in reversed(events) if event["event"] == kind), {})
