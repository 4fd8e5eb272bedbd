"""The progress of a run that another Paddock follows: one JSON object a line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, TextIO

import msgspec

from provision.stream import record

if TYPE_CHECKING:
    from provision.progress import Progress

VARIABLE = "PADDOCK_EVENTS"  # set where whoever started the run reads its standard error


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a run tells of a step. `seconds` is how long it took."""

    event: Literal["started", "line", "finished", "over", "failed", "note"]
    step: str = ""
    line: str = ""
    seconds: float = 0.0


class Events:
    """A Progress that writes events."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __enter__(self) -> Events:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def _tell(self, event: Event) -> None:
        record(self.stream, msgspec.json.encode(event).decode())

    def started(self, step: str) -> None:
        """A step begins."""
        self._tell(Event("started", step))

    def line(self, step: str, line: str) -> None:
        """A step has written a line."""
        self._tell(Event("line", step, line))

    def finished(self, step: str, seconds: float) -> None:
        """A step holds now."""
        self._tell(Event("finished", step, seconds=seconds))

    def over(self, step: str) -> None:
        """A step has ended, and somebody else tells how."""
        self._tell(Event("over", step))

    def failed(self, step: str) -> None:
        """A step has failed."""
        self._tell(Event("failed", step))

    def note(self, line: str) -> None:
        """What the person has to know at once."""
        self._tell(Event("note", line=line))


def wanted() -> bool:
    """Whether whoever started this run reads events."""
    return bool(os.environ.get(VARIABLE))


def read(line: str) -> Event | None:
    """The event that a line is; None for any other line."""
    try:
        return msgspec.json.decode(line, type=Event)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None


def repeat(event: Event, progress: Progress) -> None:
    """Tell it on."""
    match event.event:
        case "line":
            progress.line(event.step, event.line)
        case "note":
            progress.note(event.line)
        case "finished":
            progress.finished(event.step, event.seconds)
        case other:
            getattr(progress, other)(event.step)
