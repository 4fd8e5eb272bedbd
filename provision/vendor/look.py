"""What a file is: the kind that its name promises, seen before anything runs it."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from provision.digest import sha256
from provision.errors import PaddockError
from provision.words import text

if TYPE_CHECKING:
    from provision.vendor.deps import Found

# How files begin, by the end of their names. Sources: execve(2), deb(5), APPNOTE of PKWARE;
# RFC 1952 (gzip), 8878 (zstd), the format descriptions of xz and bzip2.
_PROGRAM, _DEB, _ZIP = (b"#!",), (b"!<arch>\n",), (b"PK",)
_PACKED: Final = (b"\x1f\x8b", b"\xfd7zXZ\0", b"BZh", b"\x28\xb5\x2f\xfd")
_BEGINS: Final = {
    ".run": _PROGRAM, ".deb": _DEB, ".whl": _ZIP, ".zip": _ZIP, ".tar": _PACKED, ".tgz": _PACKED,
    ".gz": _PACKED, ".xz": _PACKED, ".txz": _PACKED, ".bz2": _PACKED, ".zst": _PACKED,
}  # fmt: skip
_SHOWN = 8  # bytes of a beginning that a person gets to see: a link may lead to what is secret


def checked(found: Found) -> None:
    """See that what was found is one file, and of its kind.

    Raises PaddockError `package-several`, `package-twins` (two of one name that differ),
    `package-other` (what its name promises is not in it), `package-unreadable`.
    """
    if found.rivals:
        files = ", ".join(found.rivals)
        raise PaddockError("package-several", files=files, folder=found.path.parent)
    file = found.archive or (found.path if found.is_here else None)
    if file is None:
        return
    for twin in found.twins:
        if not _same(file, twin):
            raise PaddockError("package-twins", name=file.name, files=f"{file}, {twin}")
    _begins(file)


def digest(file: Path) -> str:
    """The SHA-256 of a file. Raises PaddockError `package-unreadable`."""
    try:
        return sha256(file)
    except OSError as error:
        raise unreadable(file, error) from None


def is_readable(file: Path) -> bool:
    """Whether it is a regular file, or leads to one, that this user may read."""
    try:
        return file.is_file() and bool(_head(file) or True)
    except (OSError, PaddockError):
        return False


def unreadable(path: Path, error: OSError) -> PaddockError:
    """The error for a file or folder that this user cannot read."""
    return PaddockError("package-unreadable", file=_told(path), reason=error.strerror or error,
                        user=os.geteuid())  # fmt: skip


def _same(one: Path, other: Path) -> bool:
    """Whether two files have the same bytes; read only where their sizes do not tell."""
    try:
        if one.samefile(other):
            return True
        if one.stat().st_size != other.stat().st_size:
            return False
    except OSError as error:
        raise unreadable(other, error) from None
    return digest(one) == digest(other)


def _begins(file: Path) -> None:
    wanted = _BEGINS.get(file.suffix.lower())
    if wanted is None:
        return
    head = _head(file)
    is_tar = wanted is _PACKED and _is_tar(head)
    if not head.startswith(wanted) and not is_tar:
        raise PaddockError("package-other", file=_told(file), reason=_reason(head))


def _head(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(tarfile.BLOCKSIZE)
    except OSError as error:
        raise unreadable(file, error) from None


def _is_tar(head: bytes) -> bool:
    """Whether it is the header of a tar's first member: its sum is right."""
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def _reason(head: bytes) -> str:
    """What it is in place of what it should be, as far as its beginning tells."""
    if not head:
        return text("package.empty")
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):  # HTML, or a storage's error in XML
        return text("package.page")
    return text("package.begins", begin=repr(head[:_SHOWN])[1:])


def _told(path: Path) -> str:
    """A path, and where it leads."""
    return f"{path} -> {os.path.realpath(path)}" if os.path.islink(path) else str(path)  # noqa: PTH114
