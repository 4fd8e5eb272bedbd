"""A file of the user's is written anew: at once, by one at a time, and it stays whose it is."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from provision.errors import PaddockError
from provision.facts import small
from provision.words import text


def replace(path: Path, content: str, *, like: Path) -> None:
    """A file gets its content at once, and the owner, group and rights of another.

    A link stays one. Raises OSError; then the file is as it was.
    """
    whole, wanted = path.resolve(), like.stat()
    draft = _draft(whole)
    draft.unlink(missing_ok=True)  # it may be a link that somebody has laid there
    draft.write_bytes(content.encode())
    made = draft.stat()
    if (made.st_uid, made.st_gid) != (wanted.st_uid, wanted.st_gid):
        _give(draft, wanted)
    draft.chmod(wanted.st_mode & 0o7777)
    draft.replace(whole)


def _give(draft: Path, wanted: os.stat_result) -> None:
    """Owner and group. Raises OSError: a file that is another's afterwards helps nobody."""
    try:
        os.chown(draft, wanted.st_uid, wanted.st_gid, follow_symlinks=False)
    except OSError as error:
        raise OSError(error.errno, text("tune.owner", user=wanted.st_uid)) from None


def _draft(whole: Path) -> Path:
    return whole.with_name(f".{whole.name}.paddock-draft")


@contextlib.contextmanager
def written(path: Path) -> Iterator[None]:
    """What keeps the files from being written is told of the model's folder, not of our own.

    Raises PaddockError `tune-unwritable`.
    """
    try:
        yield
    except OSError as error:
        folder, reason = small.shown(path.resolve().parent), error.strerror or str(error)
        raise PaddockError("tune-unwritable", folder=folder, reason=reason) from None


@contextlib.contextmanager
def alone(path: Path, beside: Path) -> Iterator[None]:
    """Nobody else changes files of this folder meanwhile. Raises PaddockError `tune-busy`.

    A killed run leaves no lock; the draft that it may leave is written over, and gone afterwards.
    """
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(folder)
        raise PaddockError("tune-busy", folder=small.shown(path.parent)) from None
    try:
        yield
    finally:
        for one in (path, beside):
            with contextlib.suppress(OSError):  # the first error counts
                _draft(one.resolve()).unlink(missing_ok=True)
        os.close(folder)
