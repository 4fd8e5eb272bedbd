"""The archive of a wheel, which came from outside: looked through before anything is unpacked."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import os
import re
import stat
import struct
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
_PATH, _PART = 2048, 255  # bytes of a name, and of each part: no more fits below any environment
_LATER = 0x8  # the flag of a header whose sizes stand behind the content
_ENCRYPTED = 0x1
# Bytes that are unpacked at once; for many other sizes the allocator asks the kernel.
_PACKED = 512 << 10
_MOST = 1 << 20  # bytes of content at once
_UNPACKING = cast(type[Exception], IsalError)  # its stub takes the class for an instance
# Of the archive, and of the tables in it.
DAMAGED = (
    zipfile.BadZipFile, _UNPACKING, NotImplementedError, EOFError, ValueError, struct.error,
    csv.Error,
)  # fmt: skip


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
    _check_names(infos)
    size, packed = (sum(getattr(i, name) for i in infos) for name in ("file_size", "compress_size"))
    if size > _FREE and size > packed * _RATIO:
        raise UnsafeError("bomb", reason=f"{amounts.size(packed)} -> {amounts.size(size)}")
    ordered = sorted(infos, key=lambda info: info.header_offset)
    starts = [*(info.header_offset for info in ordered[1:]), whole.start_dir]
    for one, after in zip(ordered, starts, strict=False):  # an empty one still has a directory
        if one.header_offset + _HEADER + one.compress_size > after:
            raise UnsafeError("overlap", one.filename)


def _check_member(info: zipfile.ZipInfo) -> None:
    """One entry: where it would be put, and what kind of file it is. Raises UnsafeError."""
    name = info.orig_filename.replace("\\", "/")
    parts = PurePosixPath(name[:_PATH]).parts
    if len(name.encode()) > _PATH or any(len(part.encode()) > _PART for part in parts):
        raise UnsafeError("long", name[:64])
    if not parts or ".." in parts or name.startswith("/") or re.match("[A-Za-z]:|.*\0", name):
        raise UnsafeError("outside", info.orig_filename)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise UnsafeError("link" if kind == stat.S_IFLNK else "special", info.filename)
    if info.flag_bits & _ENCRYPTED:
        raise UnsafeError("encrypted", info.filename)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnsafeError("packed", info.filename, str(info.compress_type))


def _check_names(infos: list[zipfile.ZipInfo]) -> None:
    """No file takes the place of another, or of a folder. Raises UnsafeError."""
    places = (str(installed(info.filename)) + "/" * info.is_dir() for info in infos)
    # What is below a name comes right behind it, once its / are lower than any other character.
    for one, after in pairwise(sorted(place.replace("/", "\0") for place in places)):
        if not one.endswith("\0") and f"{after}\0".startswith(f"{one}\0"):
            raise UnsafeError("twice", one.replace("\0", "/"))


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
    _check_header(header, info)
    names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    start = info.header_offset + _HEADER + names
    left = info.file_size
    is_plain = info.compress_type == zipfile.ZIP_STORED
    packed = _packed(whole, start, info.compress_size, _MOST if is_plain else _PACKED)
    for piece in packed if is_plain else _unpacked(packed):
        left -= len(piece)
        if left < 0:
            break
        yield piece
    if left:
        raise zipfile.BadZipFile(f"{info.filename}: not {info.file_size:,} bytes")


def _check_header(header: bytes, info: zipfile.ZipInfo) -> None:
    """It says what the table of contents says: some tools go by the one, some by the other.

    Sizes too large for it stand elsewhere. Raises BadZipFile.
    """
    flags, method = struct.unpack_from("<HH", header, 6)
    told = struct.unpack_from("<LLL", header, 14)
    listed = (info.CRC, info.compress_size, info.file_size)
    differ = any(own not in (one, 0xFFFFFFFF) for own, one in zip(told, listed, strict=True))
    other = (flags ^ info.flag_bits) & _ENCRYPTED or method != info.compress_type
    if other or (differ and not flags & _LATER):
        raise zipfile.BadZipFile(f"{info.filename}: header and table of contents differ")


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


def _unpacked(packed: Iterator[bytes]) -> Iterator[bytes]:
    """What deflated bytes become, never much at once."""
    unpacker = IgzipDecompressor(flag=DECOMP_DEFLATE)  # twice as fast as zlib
    for piece in packed:
        while not unpacker.eof:
            yield unpacker.decompress(piece, _MOST)
            piece = b""  # noqa: PLW2901 - the unpacker has it
            if unpacker.needs_input:
                break
