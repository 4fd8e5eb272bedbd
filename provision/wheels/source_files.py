"""Files of sources that are not what they stand for: links and notes in place of a content."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from provision.wheels.recipe import Recipe

_SHORT = 300  # bytes


def as_text(root: Path, folder: Path) -> list[str]:
    """Links that were checked out as text files: what they hold is the path they should lead to.

    An unpacker without links, or git with core.symlinks=false, leaves such files.
    """
    return [name for name, text in _short(root, folder)
            if text.startswith("../") and "\n" not in text]  # fmt: skip


def pointers(root: Path, folder: Path) -> list[str]:
    """Files that Git LFS keeps elsewhere and that were not fetched: a note of them is there.

    A clone where Git LFS is not installed has these, and so has a zip of such a repository.
    """
    begins = "version https://git-lfs.github.com/spec/"  # git-lfs, docs/spec.md
    return [name for name, text in _short(root, folder) if text.startswith(begins)]


def _short(root: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Path and content of each file of the sources that is no longer than a link or a note is."""
    for place in (folder, root / "cmake"):
        for path in sorted(place.rglob("*")) if place.is_dir() else ():
            if not path.is_symlink() and path.is_file() and path.stat().st_size <= _SHORT:
                text = path.read_text(encoding="utf-8", errors="replace").strip()
                yield str(path.relative_to(root)), text


def dangling(root: Path, folder: Path, recipe: Recipe) -> list[str]:
    """Links in the sources' own cmake folders that lead nowhere, with what they hold.

    Those into a submodule are not among them: whether that is needed and there is looked at itself.
    """
    apart = tuple(f"{os.path.realpath(root / module.path)}/" for module in recipe.modules)
    places = (folder / "cmake", root / "cmake")
    paths = [path for place in places for path in (place, *sorted(place.rglob("*")))]
    return [
        f"{path.relative_to(root)} -> {path.readlink()}" for path in paths
        if path.is_symlink() and not path.exists()
        and not os.path.realpath(path).startswith(apart)
    ]  # fmt: skip
