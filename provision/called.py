"""How the user started this tool, so that a command that is shown runs as it stands."""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Final

VARIABLE: Final = "PADDOCK_CALLED"  # the launcher as it was typed, or this module's answer to it

_QUOTE: Final = re.compile(r"\s+[|>] ")  # how lines of others begin, such as those of a log


@functools.cache
def called() -> str:
    """What to type for `paddock`, fit for a shell: its name where PATH leads to it, else as typed.

    `./paddock`, `/opt/pad dock/paddock` in quotes, `invoke`, `python tasks.py`.
    """
    if told := os.environ.get(VARIABLE):
        return _program(told) if "/" in told and Path(told).exists() else told
    if os.access(sys.argv[0], os.X_OK) and not sys.argv[0].endswith(".py"):
        return _program(sys.argv[0])
    return shlex.join(sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1])


def _program(path: str) -> str:
    """A program by its name alone where that starts it, else by its path."""
    found = shutil.which(Path(path).name)
    if found and Path(found).samefile(path):
        return shlex.quote(Path(path).name)
    return shlex.quote(path) if os.access(path, os.X_OK) else f"sh {shlex.quote(path)}"


@functools.cache
def _command() -> re.Pattern[str]:
    """`paddock` before a task or one of the flags that need none, not as a part of a path."""
    from provision.words import catalogue

    tasks = [key[len("task.") :] for key in catalogue() if key.startswith("task.")]
    return re.compile(rf"(?a)(?<![\w./~-])paddock(?= (?:--list|--help|{'|'.join(tasks)})(?![\w-]))")


def as_typed(line: str) -> str:
    """A line for a person, with the tool's commands in it as this person types them.

    Documents and scripts, which are read elsewhere, keep `paddock`; so does what others wrote.
    """
    if "paddock " not in line or _QUOTE.match(line):
        return line
    return _command().sub(lambda _: called(), line)
