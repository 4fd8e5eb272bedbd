"""Writes results where the user wants them: to a file, whole or not at all, or to the terminal."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from provision.errors import PaddockError
from provision.stream import standing
from provision.words import text


def write(option: str, file: str, data: bytes) -> None:
    """Write a document to a file, or to standard output where the file is `-`.

    Raises PaddockError `bad-option` where there can be no such file, `disk-full`.
    """
    if file == "-":
        with standing(sys.stdout):
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        return
    try:
        _write(Path(file), data)
    except (OSError, RuntimeError) as error:  # RuntimeError: a link that leads to itself
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
            raise PaddockError("disk-full", step="paddock", path=file) from None
        reason = getattr(error, "strerror", None) or os.strerror(errno.ELOOP)
        wanted = text("wanted.writable", reason=reason)
        raise PaddockError("bad-option", option=option, value=file, wanted=wanted) from None


def _write(path: Path, data: bytes) -> None:
    """A file gets its new content at once; a pipe or a device is not replaced but written to."""
    if path.is_dir() or (path.exists() and not path.is_file()):
        path.write_bytes(data)
    else:
        put_whole(path, data)


def put_whole(path: Path, data: bytes) -> None:
    """A file gets its new content at once. Raises OSError; then it is as it was."""
    whole = path.resolve()  # a link stays one
    draft = whole.with_name(f"{whole.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        draft.replace(whole)
    finally:
        draft.unlink(missing_ok=True)
