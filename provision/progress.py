"""What a person sees while steps run: a live table on a terminal, plain lines in a pipe."""

from __future__ import annotations

import contextlib
import re
import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, TextIO

from provision.amounts import duration
from provision.called import as_typed
from provision.stream import printable, say
from provision.words import text

if TYPE_CHECKING:
    from rich.table import Table

_NINJA = re.compile(r"\[(\d+)/(\d+)\]")
_FAR = re.compile(r"\d+/\d+\b")  # as `build-ops` tells it
_MINUTE = 60.0


class Progress(Protocol):
    """Told of each event of a run, from any thread."""

    def __enter__(self) -> Progress: ...
    def __exit__(self, *error: object) -> None: ...
    def started(self, step: str) -> None:
        """A step begins."""

    def line(self, step: str, line: str) -> None:
        """A step has written a line."""

    def finished(self, step: str, seconds: float) -> None:
        """A step holds now."""

    def over(self, step: str) -> None:
        """A step has ended, and somebody else tells how."""

    def failed(self, step: str) -> None:
        """A step has failed."""

    def note(self, line: str) -> None:
        """What the person has to know at once."""


@contextlib.contextmanager
def as_step(shown: Progress, name: str) -> Iterator[None]:
    """Show what is done in here as a step."""
    began = time.monotonic()
    shown.started(name)
    try:
        yield
    except BaseException:
        shown.failed(name)
        raise
    shown.finished(name, time.monotonic() - began)


class Plain:
    """One line when a step begins and one when it ends; of a long compile one a minute."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._told: dict[str, float] = {}

    def __enter__(self) -> Plain:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def _say(self, sign: str, step: str, rest: str) -> None:
        say(self.stream, f"  {sign} {step:<22} {rest}".rstrip())

    def started(self, step: str) -> None:
        """`> step`."""
        self._told[step] = time.monotonic()
        self._say(">", step, "")

    def line(self, step: str, line: str) -> None:
        """How far a compile is, at most once a minute; nothing else: the log has it."""
        now = time.monotonic()
        if _FAR.match(line) and now - self._told.get(step, now) >= _MINUTE:
            self._told[step] = now
            self._say(">", step, line)

    def finished(self, step: str, seconds: float) -> None:
        """`+ step  9 s`."""
        self._say("+", step, duration(seconds))

    def over(self, step: str) -> None:
        """Nothing: what is told takes the next line."""

    def failed(self, step: str) -> None:
        """`x step`; the error itself follows when the run has ended."""
        self._say("x", step, text("progress.failed"))

    def note(self, line: str) -> None:
        """`! line`."""
        say(self.stream, f"  ! {line}")


class Live:
    """A table that is redrawn: running steps with their time and newest line."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._lock = threading.Lock()
        self._began: dict[str, float] = {}
        self._newest: dict[str, str] = {}
        self._console = Console(file=sys.stdout, highlight=False)
        self._live = RichLive(
            get_renderable=self._table, console=self._console, refresh_per_second=5, transient=True
        )

    def __enter__(self) -> Live:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def _table(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 1))
        with self._lock:
            for step, began in self._began.items():
                newest = Text(
                    self._newest.get(step, ""), style="dim", overflow="ellipsis", no_wrap=True
                )
                table.add_row("  >", step, duration(time.monotonic() - began), newest)
        return table

    def started(self, step: str) -> None:
        """A row of its own from now on."""
        with self._lock:
            self._began[step] = time.monotonic()

    def line(self, step: str, line: str) -> None:
        """The newest line; of a compile the count alone."""
        count = _NINJA.search(line)
        with self._lock:
            self._newest[step] = count[0] if count else printable(line.strip())

    def _end(self, step: str, sign: str, style: str, rest: str) -> None:
        from rich.text import Text

        with self._lock:
            self._began.pop(step, None)
        self._console.print(Text(f"  {sign} ", style=style) + Text(f"{step:<22} {rest}", style=""))

    def finished(self, step: str, seconds: float) -> None:
        """Its last row stays above the table."""
        self._end(step, "+", "green", duration(seconds))

    def over(self, step: str) -> None:
        """Its row goes."""
        with self._lock:
            self._began.pop(step, None)

    def failed(self, step: str) -> None:
        """Its last row stays above the table."""
        self._end(step, "x", "red", text("progress.failed"))

    def note(self, line: str) -> None:
        """It stays above the table."""
        from rich.text import Text

        shown = as_typed(printable(line))
        self._console.print(Text("  ! ", style="yellow") + Text(shown, style=""))


def progress(*, json: bool) -> Progress:
    """The right one for where the output goes; with `json` standard output stays free for it."""
    from provision import events

    if events.wanted():
        return events.Events(sys.stderr)
    if json:
        return Plain(sys.stderr)
    return Live() if sys.stdout.isatty() else Plain(sys.stdout)
