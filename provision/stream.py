"""Writes lines to where a person or a pipe reads them; no terminal and no reader is an error."""

from __future__ import annotations

import os
import sys
from typing import TextIO


def say(stream: TextIO | None, line: str) -> None:
    """Write one line at once. What the encoding lacks is replaced.

    A stream that was closed, or whose reader (`head`, a pager) has gone, takes the line silently:
    the work goes on, and its exit status tells how it ended.
    """
    if stream is None:
        return
    encoding = stream.encoding or "ascii"
    try:
        stream.write(line.encode(encoding, "replace").decode(encoding) + "\n")
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_unicode(stream: TextIO | None) -> bool:
    """Whether every character can be written."""
    return stream is not None and (stream.encoding or "").lower().startswith("utf")


def replace_closed() -> None:
    """Let a closed standard output or error (`>&-`) be one that swallows all."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
