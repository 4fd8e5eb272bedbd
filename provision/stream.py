"""Writes lines to where a person or a pipe reads them; no terminal and no reader is an error.

What a line holds may come from anywhere: only colours of ours reach a terminal as codes.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from typing import Final, TextIO

from provision.called import as_typed

# ECMA-48: what colours a terminal, moves its cursor, or names its window.
_CODES: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])"
)


class Painted(str):
    """A line in a colour of ours: all else in it is printable."""

    __slots__ = ()


def paint(number: int, line: str, rest: str = "") -> Painted:
    """A line in a colour (the number of its code), and what follows it without colour."""
    return Painted(f"\033[{number}m{printable(line)}\033[0m{printable(rest)}")


def coloured(stream: TextIO) -> bool:
    """Whether colour may repeat what the words say."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and stream.isatty()


def printable(text: str) -> str:
    """A text for one line of a terminal: what would move the cursor or has no spelling is replaced.

    A variable, a path, a log or a damaged library may hold anything.
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(sign: str) -> str:
    """A sign itself, also a blank of any width; a mark for one that cannot be shown."""
    if sign.isprintable() or sign == "\t" or unicodedata.category(sign) == "Zs":
        return sign
    return "\N{REPLACEMENT CHARACTER}"


def settled(line: str) -> str:
    """What a terminal shows of a program's line in the end, without colours.

    Progress that is written over itself leaves its last state, and what is no text leaves nothing.
    """
    if line.isprintable() and "\N{REPLACEMENT CHARACTER}" not in line:
        return line.rstrip()
    shown: list[str] = []
    at = 0
    for sign in _CODES.sub("", line):
        if sign in "\b\r":
            at = max(at - 1, 0) if sign == "\b" else 0
        elif _shown(sign) != "\N{REPLACEMENT CHARACTER}":
            shown[at : at + 1] = sign
            at += 1
    return "".join(shown).rstrip()


def say(stream: TextIO | None, line: str) -> None:
    """Write one line at once, its commands of ours as the user types them (`as_typed`).

    What is not printable, or the encoding lacks, is replaced.

    A stream that was closed, or whose reader (`head`, a pager) has gone, takes the line silently:
    the work goes on, and its exit status tells how it ended.
    """
    _write(stream, as_typed(line if isinstance(line, Painted) else printable(line)))


def record(stream: TextIO | None, line: str) -> None:
    """Write one line that a program reads, with its commands as they are."""
    _write(stream, printable(line))


def say_json(stream: TextIO | None, value: object) -> None:
    """Write one JSON document; in it, what a terminal would obey are escapes."""
    document = json.dumps(value, ensure_ascii=not is_unicode(stream), indent=2)
    _write(stream, "\n".join(map(_escaped, document.split("\n"))))


def _escaped(line: str) -> str:
    """A line of JSON that means the same; what has no spelling is left to the encoding."""
    if line.isprintable():
        return line
    shown = (sign.isprintable() or "\ud800" <= sign <= "\udfff" for sign in line)
    return "".join(
        sign if plain else json.dumps(sign)[1:-1] for sign, plain in zip(line, shown, strict=True)
    )


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        return
    encoding = stream.encoding or "ascii"
    with standing(stream):
        stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        stream.flush()


@contextlib.contextmanager
def standing(stream: TextIO) -> Iterator[None]:
    """What is written in here; from the first failure on all that follows is swallowed.

    The reader's going is no failure. Raises OSError with the stream as its file where standard
    output cannot be written; for standard error there is nobody to tell.
    """
    try:
        yield
    except OSError as error:
        # Else Python tries once more at its end, and complains in its own words.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if stream is sys.stderr or error.errno in (errno.EPIPE, errno.EIO):  # EIO: a lost terminal
            return
        raise OSError(error.errno, error.strerror, stream.name) from None


def is_unicode(stream: TextIO | None) -> bool:
    """Whether every character can be written."""
    return stream is not None and (stream.encoding or "").lower().startswith("utf")


def replace_closed() -> None:
    """Let a closed standard output or error (`>&-`) be one that swallows all."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123


def pour(stream: TextIO | None, text: str) -> None:
    """Write a text that a program will read: in UTF-8, whatever the locale says."""
    if stream is None:
        return
    with standing(stream):
        stream.flush()
        stream.buffer.write(text.encode("utf-8", "surrogateescape"))
        stream.buffer.flush()
