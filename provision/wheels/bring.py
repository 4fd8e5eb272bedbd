"""Brings sources to where they are built, at the commit that is wanted."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from provision.errors import PaddockError
from provision.network import Network, hidden
from provision.wheels import archive, git
from provision.wheels.recipe import Recipe
from provision.wheels.source import Source, given_files

_SHORT = 300  # bytes


def bring(source: Source, recipe: Recipe, network: Network) -> Path:
    """The top folder of the sources. Raises PaddockError `source-*`, `package-*`, `no-network`."""
    if source.kind == "folder":
        return source.root
    source.root.parent.mkdir(parents=True, exist_ok=True)
    if source.kind == "archive":
        return archive.unpacked(Path(source.origin), source.root)
    if not (source.root / ".git").is_dir():
        _begin(source)
    try:
        _check_out(source, recipe, network)
    except PaddockError as error:
        # A machine that went down may have left files without their content.
        if error.code != "source-missing" or git.is_sound(source.root):
            raise
        _begin(source)
        _check_out(source, recipe, network)
    return source.root


def _begin(source: Source) -> None:
    """An empty repository in place of what is there, with the submodules of that, whole or not at
    all."""
    draft = source.root.with_name(f"{source.root.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    if (made := git.begin(draft)).status != 0:
        raise git.failed(source.origin, draft, made)
    with contextlib.suppress(OSError):
        (source.root / ".git/modules").rename(draft / ".git/modules")
    shutil.rmtree(source.root, ignore_errors=True)
    draft.rename(source.root)


def _check_out(source: Source, recipe: Recipe, network: Network) -> None:
    """The commit, and no file that is not of it. Raises PaddockError `source-*`."""
    git.tidy(source.root / ".git")
    _fetch(source, network)
    changed = git.changed(source.root, given_files(recipe))
    if git.commit_of(source.root, "HEAD") != source.commit or changed:
        # With a network given it ends with this process.
        checkout = ("checkout", "--quiet", "--force", "--detach", source.commit)
        git.must(source.origin, source.root, *checkout, network=network)
        git.must(source.origin, source.root, "clean", "-fdq")


def _fetch(source: Source, network: Network) -> None:
    """The commit alone. Raises PaddockError `source-*`."""
    is_away = source.kind == "remote" and network.offline
    if is_away and not git.has(source.root, source.commit):
        raise PaddockError("source-offline", source=hidden(source.origin), ref=source.ref)
    answer = git.take(source.root, source.origin, source.commit, network)
    if "not our ref" in answer.err:
        raise PaddockError("source-ref", ref=source.ref, source=hidden(source.origin))
    if answer.status != 0:
        raise git.failed(source.origin, source.root, answer)


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
