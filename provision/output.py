"""What a script prints, line by line, and who is told when it prints nothing for long."""

from __future__ import annotations

import codecs
import io
import os
import select
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_SIZE = 1 << 16


@dataclass(frozen=True)
class Lasting:
    """A script that has to come to its own end: a vendor's installer, which writes into cards.

    When it has printed nothing for `seconds` (0: for ever), for twice as long, and so on, `tell`
    gets the time in seconds and the newest line, which may be a question without an end.
    """

    name: str
    seconds: float = 0.0
    tell: Callable[[float, str], None] = lambda seconds, line: None


class Output:
    """The output of a process, by its descriptor. `heard` is when it last printed, by `monotonic`.

    What has no end of a line counts too: dots of progress, a question.
    """

    def __init__(self, descriptor: int, watch: Lasting | None = None) -> None:
        self.heard = time.monotonic()
        self._descriptor, self._watch = descriptor, watch if watch and watch.seconds else None
        self._newest = ""

    def lines(self) -> Iterator[str]:
        """Its lines without their ends, to the end of it; bytes that are no text are replaced."""
        bare = codecs.getincrementaldecoder("utf-8")("replace")
        decoder, begun = io.IncrementalNewlineDecoder(bare, translate=True), ""
        while piece := self._next():
            *whole, begun = (begun + decoder.decode(piece)).split("\n")
            self._newest = begun.strip() or next(filter(str.strip, reversed(whole)), self._newest)
            yield from whole
        *whole, begun = (begun + decoder.decode(b"", final=True)).split("\n")
        yield from [*whole, begun] if begun else whole

    def _next(self) -> bytes:
        """The next piece; b"" at the end."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        wait = self._watch.seconds if self._watch else 0.0
        while self._watch and not poll.poll(max(0.0, self.heard + wait - time.monotonic()) * 1000):
            self._watch.tell(time.monotonic() - self.heard, self._newest)
            wait *= 2
        piece = os.read(self._descriptor, _SIZE)
        self.heard = time.monotonic()
        return piece
