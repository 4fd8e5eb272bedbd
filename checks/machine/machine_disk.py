"""Can the tool's folders be written, and is there room?"""

from __future__ import annotations

from checks.machine.finding import Check, Evidence, Finding, State, known, ok
from provision.amounts import size
from provision.facts.disk import Room
from provision.facts.snapshot import Facts

# Bytes: an environment with Paddle and PaddleNLP takes 1.7 GB, the packages' cache as much again.
_NEW = 4 << 30
_KEPT = 512 << 20  # what builds, logs and smoke tests need in a provisioned environment
_INODES = 100_000  # an environment has about 40,000 files, each of them also in the cache
_SOURCE = "measured: environment 1.7 GB with PaddleNLP, and its package cache"


def _run(facts: Facts) -> Finding:
    rooms = known(facts.disk)
    wanted = _NEW if facts.environment is None else _KEPT
    for room in rooms:
        state, case = _judge(room, wanted)
        if state != "ok":
            values = {"path": room.path, "free": size(room.free), "wanted": size(wanted)}
            return Finding(state, case, values, [_evidence(room)], source=_SOURCE)
    least = min(rooms, key=lambda room: room.free)
    return ok(_evidence(least).line, "statvfs")


def _judge(room: Room, wanted: int) -> tuple[State, str]:
    """The state of one folder, and the case."""
    if room.read_only:
        return "error", "read-only"
    if not room.writable:
        return "error", "not-writable"
    if room.free < wanted:
        return ("error" if room.free < _KEPT else "warning"), "full"
    if room.inodes is not None and room.inodes < _INODES:
        return "warning", "inodes"
    return "ok", "ok"


def _evidence(room: Room) -> Evidence:
    inodes = "" if room.inodes is None else f", {room.inodes} files"
    return Evidence(f"{size(room.free)}{inodes} free at {room.path}", "statvfs")


CHECK = Check("machine-disk", _run)
