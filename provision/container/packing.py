"""What goes into a container as a tar archive: owned by root, whoever's it is here."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

from provision.errors import PaddockError


def place(path: Path) -> str:
    """What an archive for the root of a container calls a path in it."""
    return str(path).lstrip("/")


def owned_by_root(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """The same entry as root's."""
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    return info


def add_text(archive: tarfile.TarFile, path: Path, content: str) -> None:
    """A file with this content."""
    data, info = os.fsencode(content), tarfile.TarInfo(place(path))
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def add_sources(archive: tarfile.TarFile, root: Path, path: Path) -> None:
    """A folder without the trees that CMake has made: they are of no use in another place.

    What its links lead to outside of it comes in their place. Raises PaddockError `source-missing`
    for what cannot be read.
    """
    outside: list[Path] = []

    def wanted(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        found = root / Path(info.name).relative_to(place(path))
        if found.is_symlink() and leads_out(found, root):
            outside.append(found)
            return None
        if info.linkname.startswith("/") and found.resolve().is_relative_to(root):
            info.linkname = os.path.relpath(found.resolve(), found.parent)
        is_made = (found / "CMakeCache.txt").is_file() and not (found / "CMakeLists.txt").exists()
        return None if is_made else owned_by_root(info)

    try:
        archive.add(root, place(path), filter=wanted)
        for link in outside:
            archive.add(link.resolve(), place(path / link.relative_to(root)), filter=owned_by_root)
    except (PermissionError, FileNotFoundError) as error:
        reason = f"{error.filename}: {error.strerror}"
        raise PaddockError("source-missing", source=root, reason=reason) from None


def leads_out(link: Path, root: Path) -> bool:
    """Whether a link leads to something outside of the folder, but not to what the folder is in."""
    target = link.resolve()
    return target.exists() and not target.is_relative_to(root) and not root.is_relative_to(target)
