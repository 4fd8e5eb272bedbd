"""The append-only record of what was done: resume, undo and audit read it.

One JSON object a line, flushed to the disk before the next action starts. A line that a crash
cut short is ignored, and the next append starts on a line of its own.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

VERSION = 1
SMOKE = "smoke"  # what the proof of a stack is called beside its steps
Event = Literal["start", "done", "failed", "interrupted", "removing", "undone"]
CUT_SHORT = ("start", "interrupted", "removing")  # `removing`: an undo was begun, and has not ended
UNFINISHED = (*CUT_SHORT, "failed")


class Witness(msgspec.Struct, frozen=True):
    """A file that is there, unchanged, as long as a step holds. Size in bytes, time in ns."""

    path: str
    size: int
    mtime: int

    @classmethod
    def of(cls, path: Path) -> Witness:
        """The file as it is now. Raises OSError."""
        status = path.stat()
        return cls(str(path), status.st_size, status.st_mtime_ns)

    def holds(self) -> bool:
        """Whether the file is still the same; in the layers of an image times are whole seconds."""
        whole = msgspec.structs.replace(self, mtime=self.mtime // 10**9 * 10**9)
        try:
            return Witness.of(Path(self.path)) in (self, whole)
        except OSError:
            return False


class Entry(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One line of the journal. `time` is seconds since 1970; `stand_in` says of a smoke test that
    no card computed, and stands first."""

    stand_in: str = ""
    step: str
    event: Event
    key: str
    time: float
    run: str = ""
    seconds: float = 0.0
    witnesses: list[Witness] = []
    log: str = ""
    version: int = VERSION


class Journal:
    """The journal of one target."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def entries(self) -> Iterator[Entry]:
        """All complete entries of this version, oldest first."""
        decoder = msgspec.json.Decoder(Entry)
        try:
            lines = self.path.read_bytes().split(b"\n")
        except (FileNotFoundError, NotADirectoryError):
            return
        for line in lines:
            try:
                entry = decoder.decode(line)
            except (msgspec.DecodeError, msgspec.ValidationError):
                continue  # cut short by a crash: it never counts as done
            if entry.version == VERSION:
                yield entry

    def last(self) -> dict[str, Entry]:
        """The last entry of each step."""
        return {entry.step: entry for entry in self.entries()}

    def append(self, entry: Entry) -> None:
        """Write one entry and wait until it is on the disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            end = os.lseek(descriptor, 0, os.SEEK_END)
            torn = end > 0 and os.pread(descriptor, 1, end - 1) != b"\n"
            line = b"\n" * torn + msgspec.json.encode(entry) + b"\n"
            if os.write(descriptor, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def record(self, step: str, event: Event, key: str, **more: object) -> None:
        """Append an entry with the time of now."""
        self.append(msgspec.convert({"step": step, "event": event, "key": key,
                                     "time": time.time(), **more}, Entry))  # fmt: skip
