"""Writes lines to where a person or a pipe reads them; no terminal and no reader is an error."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from typing import TextIO


def say(stream: TextIO | None, line: str) -> None:
    """Write one line at once. What the encoding lacks is replaced.

    A stream that was closed, or whose reader (`head`, a pager) has gone, takes the line silently:
    the work goes on, and its exit status tells how it ended.
    """
    if stream is None:
        return
    encoding = stream.encoding or "ascii"
    with standing(stream):
        stream.write(line.encode(encoding, "replace").decode(encoding) + "\n")
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
