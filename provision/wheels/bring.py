"""Brings sources to where they are built, at the commit that is wanted."""

from __future__ import annotations

import contextlib
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
