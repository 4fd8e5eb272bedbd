"""Brings sources to where they are built, at the commit that is wanted."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from provision.errors import PaddockError
from provision.network import Network, hidden
from provision.wheels import archive, git
from provision.wheels.recipe import Recipe
from provision.wheels.source import Source, given_files


def bring(source: Source, recipe: Recipe, network: Network) -> Path:
    """The top folder of the sources. Raises PaddockError `source-*`, `package-*`, `no-network`."""
    if source.kind == "folder":
        return source.root
    source.root.parent.mkdir(parents=True, exist_ok=True)
    if source.kind == "archive":
        return archive.unpacked(Path(source.origin), source.root)
    if not (source.root / ".git").is_dir():
        _begin(source)
    git.tidy(source.root / ".git")
    if not git.has(source.root, source.commit):
        _fetch(source, network)
    changed = git.changed(source.root, given_files(recipe))
    if git.commit_of(source.root, "HEAD") != source.commit or changed:
        _must(source, "checkout", "--quiet", "--force", "--detach", source.commit)
        _must(source, "clean", "-fdq")
    return source.root


def _begin(source: Source) -> None:
    """An empty repository in its place, whole or not at all."""
    draft = source.root.with_name(f"{source.root.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    if (made := git.begin(draft)).status != 0:
        raise git.failed(source.origin, draft, made)
    draft.rename(source.root)


def _fetch(source: Source, network: Network) -> None:
    """The commit alone. Raises PaddockError `source-*`, `no-network`."""
    if source.kind == "remote" and network.offline:
        raise PaddockError("source-offline", source=hidden(source.origin), ref=source.ref)
    answer = git.take(source.root, source.origin, source.commit, network)
    if "not our ref" in answer.err:
        raise PaddockError("source-ref", ref=source.ref, source=hidden(source.origin))
    if answer.status != 0:
        raise git.failed(source.origin, source.root, answer)


def _must(source: Source, *arguments: str) -> str:
    return git.must(source.origin, source.root, *arguments)


def as_text(root: Path, folder: Path) -> list[str]:
    """Links that were checked out as text files: what they hold is the path they should lead to.

    An unpacker without links, or git with core.symlinks=false, leaves such files.
    """
    found = []
    for place in (folder, root / "cmake"):
        for path in sorted(place.rglob("*")) if place.is_dir() else ():
            if path.is_symlink() or not path.is_file() or path.stat().st_size > 300:  # noqa: PLR2004
                continue
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            if text.startswith("../") and "\n" not in text:
                found.append(str(path.relative_to(root)))
    return found


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
