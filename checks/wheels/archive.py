"""The archive of a wheel, which came from outside: looked through before anything is unpacked."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import stat
import zipfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import cast

from isal.igzip_lib import DECOMP_DEFLATE, IgzipDecompressor, IsalError

from provision import amounts
from provision.errors import PaddockError
from provision.facts import small

_DIRECTORY = 6 << 20  # bytes of an archive's table of contents; that of torch has 1 MiB
_FREE, _RATIO = 256 << 20, 100  # bytes that may be packed however well; a real library packs 4 to 1
_HEADER = 30  # bytes before the name of a member
_ENCRYPTED = 0x1
# Bytes that are unpacked at once; for many other sizes the allocator asks the kernel.
_PACKED = 512 << 10
_MOST = 1 << 20  # bytes of content at once
_UNPACKING = cast(type[Exception], IsalError)  # its stub takes the class for an instance
DAMAGED = (zipfile.BadZipFile, _UNPACKING, NotImplementedError, EOFError, ValueError)


class UnsafeError(Exception):
    """Why nothing of an archive is unpacked: a case of `wheel-archive` with its values."""

    def __init__(self, case: str, member: str = "", reason: str = "") -> None:
        super().__init__(case)
        self.case = case
        self.values = {"member": member, "reason": reason}


class _Bounded(io.BufferedReader):
    """A file that is never read in large pieces, as a made-up table of contents would have it."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Raises UnsafeError for too much."""
        if size is None or size < 0:
            size = os.fstat(self.fileno()).st_size - self.tell()
        if size > _DIRECTORY:
            raise UnsafeError("bomb", reason=amounts.size(size))
        return super().read(size)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """An archive all of whose names and sizes are sound.

    Raises UnsafeError, and PaddockError `bad-wheel` for a file that cannot be read.
    """
    with reached(path) as stream:
        try:
            with zipfile.ZipFile(stream) as whole:
                _check(whole)
                yield whole
        except (*DAMAGED, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.EINVAL:  # a seek to nowhere
                raise
            raise UnsafeError("damaged", reason=str(error) or type(error).__name__) from None


def reached(path: Path) -> _Bounded:
    """A file, open for reading. Raises PaddockError `bad-wheel`."""
    try:
        raw = cast(io.BufferedReader, small.opened(path)).detach()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PaddockError("bad-wheel", file=path, reason=reason) from None
    return _Bounded(cast(io.FileIO, raw))


def _check(whole: zipfile.ZipFile) -> None:
    """Raises UnsafeError."""
    infos = whole.infolist()
    for info in infos:
        _check_member(info)
    _check_names([info for info in infos if not info.is_dir()])
    size, packed = (sum(getattr(i, name) for i in infos) for name in ("file_size", "compress_size"))
    if size > _FREE and size > packed * _RATIO:
        raise UnsafeError("bomb", reason=f"{amounts.size(packed)} -> {amounts.size(size)}")
    for one, after in pairwise(sorted(infos, key=lambda info: info.header_offset)):
        if one.header_offset + _HEADER + one.compress_size > after.header_offset:
            raise UnsafeError("bomb", after.filename, f"{one.filename} / {after.filename}")


def _check_member(info: zipfile.ZipInfo) -> None:
    """One entry: where it would be put, and what kind of file it is. Raises UnsafeError."""
    name = info.orig_filename.replace("\\", "/")
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or name.startswith("/") or re.match("[A-Za-z]:|.*\0", name):
        raise UnsafeError("outside", info.orig_filename)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise UnsafeError("link" if kind == stat.S_IFLNK else "special", info.filename)
    if info.flag_bits & _ENCRYPTED:
        raise UnsafeError("encrypted", info.filename)


def _check_names(infos: list[zipfile.ZipInfo]) -> None:
    """No file takes the place of another, or of a folder. Raises UnsafeError."""
    seen: set[PurePosixPath] = set()
    for info in infos:
        place = installed(info.filename)
        if place in seen:
            raise UnsafeError("twice", info.filename)
        seen.add(place)
    folders = {folder for place in seen for folder in place.parents}
    if both := seen & folders:
        raise UnsafeError("twice", str(both.pop()))


def installed(name: str) -> PurePosixPath:
    """Where a member is put below site-packages.

    Source: PEP 427; what goes elsewhere (scripts, headers) keeps its name in the archive.
    """
    path = PurePosixPath(name.replace("\\", "/"))
    parts = path.parts
    if len(parts) > 2 and parts[0].endswith(".data"):  # noqa: PLR2004 - folder, scheme, name
        if parts[1] in ("purelib", "platlib"):
            return PurePosixPath(*parts[2:])
        if parts[1] == "data" and "site-packages" in parts[:-1]:
            return PurePosixPath(*parts[parts.index("site-packages") + 1 :])
    return path


def pieces(whole: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of a member, piece by piece. Raises `DAMAGED`, also for another length."""
    with whole.open(info):  # sees to it that the header before the content says the same
        stream = whole.fp
    assert stream is not None  # noqa: S101 - it is open
    stream.seek(info.header_offset)
    header = stream.read(_HEADER)
    names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    start = info.header_offset + _HEADER + names
    left = info.file_size
    is_plain = info.compress_type == zipfile.ZIP_STORED
    packed = _packed(whole, start, info.compress_size, _MOST if is_plain else _PACKED)
    for piece in packed if is_plain else _unpacked(packed, info):
        left -= len(piece)
        if left < 0:
            break
        yield piece
    if left:
        raise zipfile.BadZipFile(f"{info.filename}: not {info.file_size:,} bytes")


def _packed(whole: zipfile.ZipFile, start: int, size: int, most: int) -> Iterator[bytes]:
    """The bytes of a member as they stand in the archive."""
    stream = whole.fp
    assert stream is not None  # noqa: S101 - it is open
    while size > 0:
        stream.seek(start)  # somebody may have read elsewhere meanwhile
        piece = stream.read(min(size, most))
        if not piece:
            raise EOFError("the archive is cut short")
        yield piece
        start, size = start + len(piece), size - len(piece)


def _unpacked(packed: Iterator[bytes], info: zipfile.ZipInfo) -> Iterator[bytes]:
    """What deflated bytes become, never much at once. Raises NotImplementedError for other ways."""
    if info.compress_type != zipfile.ZIP_DEFLATED:
        raise NotImplementedError(f"{info.filename}: compression {info.compress_type}")
    unpacker = IgzipDecompressor(flag=DECOMP_DEFLATE)  # twice as fast as zlib
    for piece in packed:
        while not unpacker.eof:
            yield unpacker.decompress(piece, _MOST)
            piece = b""  # noqa: PLW2901 - the unpacker has it
            if unpacker.needs_input:
                break
