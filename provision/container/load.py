"""Puts the tool, the target's data and the vendors' packages into a container."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import tempfile
from pathlib import Path

from provision.container.engine import translated
from provision.container.inside import Inside
from provision.digest import sha256
from provision.forms.wanted import Wanted
from provision.imaging.folder import fill

_STAMP = ".loaded"


def load(inside: Inside, wanted: Wanted, given: Path | None) -> None:
    """Put there what an image would be built with, unless just that is there.

    `given` is the folder with vendors' packages. It is copied, not mounted: an edit of the
    checkout does not reach into a run, and a run with another folder needs no other container.
    One that is not there is told by the step that needs it, when the rest is done. Raises
    PaddockError: `no-checkout`, `package-*`, `container-disk`.
    """
    with tempfile.TemporaryDirectory(prefix="paddock-container-") as scratch:
        folder = Path(scratch) / "tool"
        fill(folder, wanted, given)
        digest = _digest(folder)
        if _text(inside, wanted.home / _STAMP) == digest:
            return
        archive = Path(scratch) / "tool.tar"
        _pack(archive, folder, str(wanted.home).lstrip("/"), digest)
        with translated(container=inside.container.name), archive.open("rb") as file:
            old = [str(wanted.home / name) for name in (_STAMP, "tool", "packages")]
            inside.container.exec_run(["rm", "-rf", *old], user="0:0")
            inside.container.put_archive("/", file)


def _text(inside: Inside, file: Path) -> str:
    with translated(container=inside.container.name):
        done = inside.container.exec_run(["cat", str(file)], user="0:0")
    return done.output.decode(errors="replace") if done.exit_code == 0 else ""


def _digest(folder: Path) -> str:
    """One digest of all files, their names and whether they are programs."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            head = f"{path.relative_to(folder)}\0{path.stat().st_mode & 0o111}\0"
            digest.update(os.fsencode(head) + sha256(path).encode())
    return digest.hexdigest()


def _pack(file: Path, folder: Path, home: str, digest: str) -> None:
    """A tar archive for the root of the container; the stamp, of all that comes before, is last.

    The packages have a folder beside the tool's, as they have in an image.
    """
    with tarfile.open(file, mode="w") as archive:
        for path in sorted(folder.iterdir()):
            name = path.name if path.name == "packages" else f"tool/{path.name}"
            archive.add(path, f"{home}/{name}", filter=_owned_by_root)
        info = tarfile.TarInfo(f"{home}/{_STAMP}")
        info.size = len(digest)
        archive.addfile(info, io.BytesIO(digest.encode()))


def _owned_by_root(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    return info
