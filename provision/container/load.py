"""Puts the tool, the target's data and the vendors' packages into a container."""

from __future__ import annotations

import tarfile
import tempfile
from pathlib import Path

from provision.container.inside import Inside
from provision.container.packing import add_text, owned_by_root, place
from provision.digest import sha256_of_folder
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
        digest = sha256_of_folder(folder)
        if inside.read(wanted.home / _STAMP) == digest:
            return
        archive = Path(scratch) / "tool.tar"
        _pack(archive, folder, wanted.home, digest)
        old = [wanted.home / name for name in (_STAMP, "tool", "packages")]
        inside.replace(old, archive)


def _pack(file: Path, folder: Path, home: Path, digest: str) -> None:
    """A tar archive for the root of the container; the stamp, of all that comes before, is last.

    The packages have a folder beside the tool's, as they have in an image.
    """
    with tarfile.open(file, mode="w") as archive:
        for path in sorted(folder.iterdir()):
            name = path.name if path.name == "packages" else f"tool/{path.name}"
            archive.add(path, place(home / name), filter=owned_by_root)
        add_text(archive, home / _STAMP, digest)
