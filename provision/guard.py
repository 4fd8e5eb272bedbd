"""What surrounds a run: one at a time, storage errors in clear words, signals that tidy up."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

from provision.errors import PaddockError
from provision.paths import state_dir
from provision.site import Site


def exclusive(site: Site) -> contextlib.AbstractContextManager[None]:
    """Only one run at a time for a target. Raises PaddockError `busy` with the other's process."""
    return alone(site.state, site.target)


@contextlib.contextmanager
def alone(folder: Path, name: str) -> Iterator[None]:
    """Only one run at a time with this folder, which is made; `name` is what the run is for.

    Raises PaddockError `busy` with the other's process.
    """
    from filelock import FileLock, Timeout

    with storage():
        folder.mkdir(parents=True, exist_ok=True)
        owner = folder / "owner"
        try:
            lock = FileLock(folder / "lock", timeout=0)
            lock.acquire()
        except Timeout:
            raise PaddockError("busy", target=name, process=_owner(owner)) from None
        try:
            owner.write_text(str(os.getpid()))
            yield
        finally:
            lock.release()


def _owner(file: Path) -> str:
    try:
        return file.read_text().strip() or "?"
    except OSError:
        return "?"


@contextlib.contextmanager
def storage() -> Iterator[None]:
    """Turns a full disk or a read-only folder, met by the tool itself, into a clear error.

    So does it a standard output that cannot be written.
    """
    try:
        yield
    except OSError as error:
        codes = {errno.ENOSPC: "disk-full", errno.EDQUOT: "disk-full", errno.EFBIG: "disk-full",
                 errno.EROFS: "read-only", errno.EACCES: "read-only", errno.EPERM: "read-only",
                 errno.ENOTDIR: "read-only", errno.EEXIST: "read-only",
                 errno.ENAMETOOLONG: "read-only", errno.EBADF: "read-only"}  # fmt: skip
        if error.errno not in codes:
            raise
        if error.filename == "<stdout>":  # as `stream.standing` names it
            raise PaddockError("output-failed", reason=error.strerror) from None
        raise PaddockError(
            codes[error.errno], step="paddock", path=error.filename or state_dir()
        ) from None


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


@contextlib.contextmanager
def signals(heard: Callable[[int, object], None] = _interrupt) -> Iterator[None]:
    """A closed terminal or a `kill` ends a run as Ctrl-C does: tidied and noted.

    All three call `heard` in here. A signal that is ignored stays so: under `nohup` a run outlives
    its terminal.
    """
    names = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    before = {name: signal.getsignal(name) for name in names}
    try:
        for name in names:
            if before[name] is not signal.SIG_IGN:
                signal.signal(name, heard)
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
