"""Small files of the system (/proc, /sys, /etc), read with a bound, also on an odd machine."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_LIMIT = 1 << 20  # bytes; nothing that is read whole here is larger on a sound machine


def opened(path: Path) -> BinaryIO:
    """A regular file, open for reading. Raises OSError, also when it is none, and ValueError.

    A pipe or a device where a file should be does not block.
    """
    stream = open(path, "rb", opener=_without_waiting)  # noqa: SIM115 - it is handed on
    if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        return stream
    stream.close()
    raise OSError(errno.EINVAL, "not a regular file")


def _without_waiting(path: str, flags: int) -> int:
    """Open a pipe without its other end."""
    return os.open(path, flags | os.O_NONBLOCK)


def data(path: Path, limit: int = _LIMIT) -> bytes | None:
    """The first `limit` bytes of a regular file; None when it cannot be read or is none."""
    try:
        with opened(path) as stream:
            return stream.read(limit)
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return None


def text(path: Path, limit: int = _LIMIT) -> str | None:
    """The same as text; what is no UTF-8 is replaced."""
    content = data(path, limit)
    return None if content is None else content.decode("utf-8", "replace").strip()


def number(path: Path) -> int | None:
    """A file that holds one whole number, not negative."""
    found = re.fullmatch(r"[0-9]{1,19}", text(path, 64) or "")
    return int(found[0]) if found else None


def names(folder: Path, most: int = 100_000) -> list[str] | None:
    """The names in a folder, sorted, at most so many; None when it cannot be read.

    They are as the system has them, so that they can be opened: `shown` before they are told.
    """
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(found) == most:
                    break
                found.append(entry.name)
    except (OSError, ValueError):
        return None
    return sorted(found)


def shown(name: str | Path) -> str:
    """A name as valid text: one that is no UTF-8 could not be written as JSON."""
    return os.fsencode(name).decode("utf-8", "replace")


def fields(path: Path) -> list[list[str]] | None:
    """The fields of a file such as /etc/passwd, line by line; None when it cannot be read."""
    content = text(path, 1 << 24)
    return None if content is None else [line.split(":") for line in content.splitlines()]


def followed(path: Path, root: Path) -> Path:
    """What a link leads to, taken below `root` as a process there would; any other path itself."""
    try:
        target = path.readlink()
    except (OSError, ValueError):
        return path
    return root / str(target).lstrip("/") if target.is_absolute() else path.parent / target


def is_folder(path: Path) -> bool | None:
    """Whether there is a folder; None when this user may not look."""
    return _is(path, stat.S_ISDIR)


def is_file(path: Path) -> bool | None:
    """Whether there is a regular file; None when this user may not look."""
    return _is(path, stat.S_ISREG)


def _is(path: Path, kind: Callable[[int], bool]) -> bool | None:
    """Whether there is something of this kind, behind any links."""
    try:
        return kind(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return None
