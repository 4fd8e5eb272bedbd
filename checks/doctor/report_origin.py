"""Where the facts of an examination come from, when that is not this machine as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from checks.machine.finding import moment
from provision.words import text

if TYPE_CHECKING:
    from checks.doctor.examine import Report

_SHOWN = 20  # names of files


def origin(report: Report) -> Iterator[str]:
    """The lines about it for people; none for this machine."""
    if report.taken is not None:
        key = "doctor.sent" if report.sent else "doctor.taken"
        yield text(key, time=moment(report.taken))
    yield from (f"!  {line}" for line in unused(report))


def unused(report: Report) -> Iterator[str]:
    """The files of a folder that say nothing about the machine, with the reason."""
    if report.sent is None:
        return
    for one in report.sent.conflicts:
        files = ", ".join(one.files)
        yield text("doctor.conflict", kind=one.kind, files=files)
    if names := report.sent.unrecognised:
        yield text("doctor.unrecognised", files=listed(names))


def listed(names: list[str]) -> str:
    """The first names of many."""
    return ", ".join([*names[:_SHOWN], *(["..."] if len(names) > _SHOWN else [])])


def files(report: Report) -> dict[str, object] | None:
    """What became of the files of a folder; the outputs themselves are among the facts."""
    if report.sent is None:
        return None
    files = list(dict.fromkeys(output.real for output in report.sent.outputs))
    conflicts = msgspec.to_builtins(report.sent.conflicts)
    return {"used": files, "unrecognised": report.sent.unrecognised, "conflicts": conflicts}
