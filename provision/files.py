"""Writes results where the user wants them: to a file, whole or not at all, or to the terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from provision.errors import PaddockError
from provision.words import text


def write(option: str, file: str, data: bytes) -> None:
    """Write a document to a file, or to standard output where the file is `-`.

    Raises PaddockError `bad-option` where there can be no such file.
    """
    if file == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        _write(Path(file), data)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        wanted = text("wanted.writable", reason=error.strerror)
        raise PaddockError("bad-option", option=option, value=file, wanted=wanted) from None


def _write(path: Path, data: bytes) -> None:
    """A file gets its new content at once; a pipe or a device is not replaced but written to."""
    if path.is_dir() or (path.exists() and not path.is_file()):
        path.write_bytes(data)
        return
    whole = path.resolve()  # a link stays one
    draft = whole.with_name(f"{whole.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        draft.replace(whole)
    finally:
        draft.unlink(missing_ok=True)
