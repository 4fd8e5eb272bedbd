"""Sources as an archive: what is in it stays in its folder, links too."""

from __future__ import annotations

import posixpath
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from provision.errors import PaddockError
from provision.vendor.unpack import unpack
from provision.words import text

_BEGINS = (b"PK\x03\x04", b"\x1f\x8b", b"\xfd7zXZ\0", b"BZh")  # zip, gzip, xz, bzip2


def is_archive(path: Path) -> bool:
    """Whether the file is a zip or tar archive, packed or not."""
    try:
        return path.is_file() and (zipfile.is_zipfile(path) or tarfile.is_tarfile(path))
    except (EOFError, zlib.error):  # cut short or broken before the first file
        return False


def begins_as_one(path: Path) -> bool:
    """Whether the file begins as a packed archive does, also one that was cut short."""
    with path.open("rb") as stream:
        return stream.read(6).startswith(_BEGINS)


def unpacked(archive: Path, folder: Path) -> Path:
    """The top folder of the sources in an archive, unpacked once into `folder`.

    Raises PaddockError `package-unsafe`, `package-damaged`, `disk-full`; OSError.
    """
    if not folder.is_dir():
        draft = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(draft, ignore_errors=True)
        unpack(archive, draft)
        for name, leads in [*_finished(archive, draft)]:
            _link(archive, draft, name, leads)
        draft.rename(folder)
    return top(folder)


def top(folder: Path) -> Path:
    """Where the sources are in an unpacked archive: most have one folder with all of it."""
    inner = [path for path in folder.iterdir() if path.name != "__MACOSX"]  # of Finder's zips
    return inner[0] if len(inner) == 1 and inner[0].is_dir() else folder


def _finished(archive: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Make programs and hard links, which `unpack` leaves out, of what it has unpacked.

    Yields path and content of each symbolic link. Raises PaddockError `package-damaged`.
    """
    return _zipped(archive, folder) if zipfile.is_zipfile(archive) else _tarred(archive, folder)


def _zipped(archive: Path, folder: Path) -> Iterator[tuple[str, str]]:
    with zipfile.ZipFile(archive) as whole:
        for member in whole.infolist():
            mode, file = member.external_attr >> 16, folder / member.filename
            if stat.S_ISLNK(mode):
                yield member.filename, whole.read(member).decode("utf-8", "surrogateescape")
            elif mode & stat.S_IXUSR and file.is_file():
                file.chmod(0o755)


def _tarred(archive: Path, folder: Path) -> Iterator[tuple[str, str]]:
    with tarfile.open(archive, "r:*") as packed:
        for member in packed:
            if member.issym():
                yield member.name, member.linkname
            elif member.islnk():
                _hard(archive, folder / member.name, folder / member.linkname)
            elif member.isreg() and member.mode & stat.S_IXUSR:
                (folder / member.name).chmod(0o755)


def _hard(archive: Path, place: Path, first: Path) -> None:
    """A second name of a file. Raises PaddockError `package-damaged` where that is not there."""
    if not first.is_file():
        reason = text("source.no-first", first=first.name, name=place.name)
        raise PaddockError("package-damaged", file=archive, reason=reason)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.hardlink_to(first)


def _link(archive: Path, folder: Path, name: str, leads: str) -> None:
    """Make one link. Raises PaddockError `package-unsafe` where it leads out of the sources.

    None is made through another, and none climbs after it went down: then its text tells its end.
    """
    place = folder / name
    end = posixpath.normpath(posixpath.join(posixpath.dirname(name), leads))
    climbs = posixpath.normpath(leads) != leads.rstrip("/").removeprefix("./")
    through = any(up.is_symlink() for up in place.parents)
    if leads.startswith("/") or end.startswith("..") or climbs or through:
        raise PaddockError("package-unsafe", file=archive, member=name)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(leads)
