"""What a command in a container says: events for the progress, one document, a log."""

from __future__ import annotations

import collections
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from provision import events
from provision.container.inside import Inside
from provision.errors import STATUS, PaddockError, Told
from provision.network import hide_secrets
from provision.process import TAIL
from provision.progress import Progress
from provision.steps.toolchain import remedy
from provision.symptoms import classify
from provision.words import text

MARK = "provision"  # one run at a time works in a container


class Reported(Told):
    """The failure that Paddock in the container has met, in its own sentences."""

    def __init__(self, told: Mapping[str, Any], where: str) -> None:
        super().__init__(told, where)
        self.where = where


@dataclass
class Listener:
    """Takes the pieces of both streams, shows the events and logs all lines but the document."""

    progress: Progress
    log: TextIO
    step: str = ""
    """The step whose lines standard output has; "" where it has documents."""
    out: bytearray = field(default_factory=bytearray)
    tail: collections.deque[str] = field(default_factory=lambda: collections.deque(maxlen=TAIL))
    rest: list[bytes] = field(default_factory=lambda: [b"", b""])

    def __call__(self, out: bytes | None, err: bytes | None) -> None:
        """Take a piece of each stream."""
        if out and not self.step:
            self.out += out
            out = None
        for number, piece in enumerate((out, err)):
            *lines, self.rest[number] = (self.rest[number] + (piece or b"")).split(b"\n")
            for line in lines:
                self.line(line.decode(errors="replace").rstrip())

    def line(self, line: str) -> None:
        """Take one line."""
        if event := events.read(line):
            events.repeat(event, self.progress)
            shown = f"{event.step}: {event.line or event.event}"
        else:
            shown = hide_secrets(line)
            if self.step and not self.tail:
                self.progress.started(self.step)
            self.tail.append(shown)
            if self.step:
                self.progress.line(self.step, shown)
        self.log.write(shown + "\n")
        self.log.flush()

    def documents(self) -> list[dict[str, Any]]:
        """The JSON documents on standard output; what is none ends them."""
        left, found = self.out.decode(errors="replace").strip(), []
        while left:
            try:
                value, end = json.JSONDecoder().raw_decode(left)
            except ValueError:
                break
            found.append(value)
            left = left[end:].strip()
        return found


@dataclass(frozen=True)
class Teller:
    """Runs commands in a container for a person who watches `progress`; all goes to a log."""

    inside: Inside
    variables: Mapping[str, str]
    progress: Progress
    log: Path

    def script(self, step: str, script: str) -> None:
        """Run a script of the shell as a step, which is shown from its first line on.

        Raises PaddockError by what it says.
        """
        began, words = time.monotonic(), ["sh", "-euc", script]
        status, listener = self._run(words, step)
        if listener.tail and not status:
            self.progress.finished(step, time.monotonic() - began)
        if status:
            tail = tuple(listener.tail)
            self.progress.failed(step)
            raise PaddockError(
                classify(tail), tail, step=step, status=status, log=self.log,
                path=self.inside.container.name, remedy=remedy(),
            )  # fmt: skip

    def ask(self, words: Sequence[str]) -> dict[str, Any]:
        """Run Paddock in there; returns its first document.

        Raises Reported with what it says of its failure, PaddockError `step-failed` where it says
        nothing.
        """
        status, listener = self._run(words, "", is_run=True)
        found = listener.documents()
        if status == 0 and found:
            return found[0]
        name = self.inside.container.name
        error = next((one for one in found if one.get("schema") == "paddock/error/1"), None)
        if error and error["code"] in STATUS:
            where = text("inside.where", container=name, log=self.log)
            raise Reported(error, where)
        raise PaddockError("step-failed", tuple(listener.tail), step=f"paddock {words[1]}",
                           status=status, log=self.log)  # fmt: skip

    def _run(
        self, words: Sequence[str], step: str, *, is_run: bool = False
    ) -> tuple[int, Listener]:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", encoding="utf-8") as log:
            listener = Listener(self.progress, log, step)
            status = self.inside.run(words, self.variables, listener, MARK, is_run=is_run)
            listener(*(b"\n" if rest else None for rest in listener.rest))
        return status, listener
