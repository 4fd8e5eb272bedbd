"""Unpacks an archive that came from outside: nothing in it can reach beyond its own folder."""

from __future__ import annotations

import errno
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import IO, Any

from provision.errors import PaddockError

LIMIT = 64 << 30  # bytes in all; TopsRider has 4 GB
# Errors of the system that an archive's own content leads to: a seek to nowhere, names that clash.
# bz2 and gzip raise one without a number.
_BY_CONTENT = (None, errno.EINVAL, errno.ENAMETOOLONG, errno.EEXIST, errno.EISDIR, errno.ENOTDIR)
_SPARE = 1 << 30  # bytes that stay free on the disk


def unpack(archive: Path, folder: Path) -> None:
    """Put the regular files of a tar or zip archive into a new folder, all of them or none.

    Raises PaddockError `package-unsafe` (a path or a link leads out of it, or it is too large),
    `package-damaged`, `disk-full`; OSError.
    """
    part = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        room = min(LIMIT, shutil.disk_usage(part).free - _SPARE)
        for name, size, source in _members(archive):
            room -= size
            if room < 0:
                raise PaddockError("disk-full", step=archive.name, path=part)
            file = part / name
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
        part.rename(folder)
    except _damage() as error:
        if isinstance(error, OSError) and error.errno not in _BY_CONTENT:
            raise
        raise PaddockError("package-damaged", file=archive, reason=error) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _damage() -> tuple[type[Exception], ...]:
    """What is raised for content that is broken, encrypted or packed in a way that is not known.

    A Python may be built without lzma.
    """
    known = (tarfile.TarError, zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError,
             RuntimeError, OSError)  # fmt: skip
    try:
        from lzma import LZMAError
    except ImportError:
        return known
    return (*known, LZMAError)


def _members(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    """Name, size in bytes and content of each regular file."""
    return _zipped(archive) if zipfile.is_zipfile(archive) else _tarred(archive)


def _tarred(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    with tarfile.open(archive, "r:*") as whole:
        for member in whole:
            _check(archive, member.name)
            if member.islnk() or member.issym():
                start = PurePosixPath(member.name).parent if member.issym() else PurePosixPath()
                _check(archive, str(start / member.linkname))
            content = whole.extractfile(member) if member.isreg() else None
            if content:
                yield member.name, member.size, content
        _read_out(whole.fileobj)


def _read_out(stream: Any) -> None:
    """Read to the end, where the packer's checksum stands: a cut one raises EOFError."""
    for _ in range(LIMIT >> 20):
        if not stream or not stream.read(1 << 20):
            return


def _zipped(archive: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    with zipfile.ZipFile(archive) as whole:
        for member in whole.infolist():
            _check(archive, member.filename)
            kind = stat.S_IFMT(member.external_attr >> 16)
            if not member.is_dir() and kind in (0, stat.S_IFREG):
                with whole.open(member) as content:
                    yield member.filename, member.file_size, content


def _check(archive: Path, name: str) -> None:
    """Refuse a path that is absolute or that climbs out, wherever it would come back in."""
    path = PurePosixPath(name.replace("\\", "/"))
    depths = accumulate(-1 if part == ".." else 1 for part in path.parts)
    if path.is_absolute() or any(depth < 0 for depth in depths):  # `//etc` is absolute, too
        raise PaddockError("package-unsafe", file=archive, member=name)
