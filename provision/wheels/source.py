"""Where the sources of a wheel come from: a folder, an archive or a repository, at one commit."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from provision.digest import sha256
from provision.errors import PaddockError
from provision.network import Network, hidden
from provision.paths import cache_dir
from provision.wheels import archive, bundle, git
from provision.wheels.recipe import Recipe
from provision.words import text

# As git has it: also `host:path`, and names that url.ADDRESS.insteadOf stands for.
_URL = re.compile(r"[^/]+:")
Kind = Literal["folder", "archive", "repository", "remote"]
COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Source:
    """Sources that can be built: `root` is their top folder, made by `bring` where need be.

    `identity` changes whenever they do: a commit, or the digest of an archive or of a folder's
    list of files. `origin` is where they were taken from, `commit` "" where there is no history.
    """

    origin: str
    root: Path
    identity: str
    commit: str = ""
    ref: str = ""
    kind: Kind = "folder"

    @property
    def has_history(self) -> bool:
        """Whether they are a repository of git, here or elsewhere."""
        return self.kind in ("repository", "remote")


def find(recipe: Recipe, given: str, ref: str, network: Network) -> Source:
    """What the flags `--source` and `--ref` name; nothing is fetched yet.

    Without a source the vendor's repository is meant, without a ref the recipe's own, of a
    folder or repository here what is checked out, of a bundle what was when it was made. Raises
    PaddockError `source-*`, `no-network`, `package-damaged`.
    """
    if not given or (_URL.match(given) and not Path(given).exists()):
        return _remote(recipe, given or recipe.repository, ref or recipe.ref, network)
    path = Path(given).absolute()
    if bundle.is_bundle(path):
        return _bundled(path, ref, recipe)
    if archive.is_archive(path):
        _refuse_ref(given, ref)
        found = sha256(path)
        folder = cache_dir() / "sources" / found[:16]
        return Source(str(path), folder, found, kind="archive")
    if path.is_file() and archive.begins_as_one(path):
        raise PaddockError("package-damaged", file=given, reason=text("source.cut"))
    if not path.is_dir():
        raise PaddockError("source-missing", source=given, reason=_why(path))
    if git.is_repository(path):
        return _repository(path, ref, recipe)
    _refuse_ref(given, ref)
    return Source(str(path), path, _listed(path))


def _why(path: Path) -> str:
    return text("source.no-kind" if path.exists() else "source.gone")


def _refuse_ref(given: str, ref: str) -> None:
    """Raises PaddockError `source-no-history` where a ref is asked of what has none."""
    if ref:
        raise PaddockError("source-no-history", source=given, ref=ref)


def given_files(recipe: Recipe) -> list[str]:
    """What the vendor hands out and the user puts into the sources."""
    return [f"{recipe.folder}/{one.into}" for one in recipe.pieces if one.into]


def _repository(path: Path, ref: str, recipe: Recipe) -> Source:
    """A repository of this machine.

    Raises PaddockError `source-ref`, `source-dirty`, and `source-missing` where git cannot read it.
    """
    commit = git.commit_of(path, ref or "HEAD")
    if commit is None:
        git.must(str(path), path, "rev-parse", "--git-dir")
        raise PaddockError("source-ref", ref=ref or "HEAD", source=path)
    if not ref and (lines := git.changed(path, given_files(recipe))):
        raise PaddockError("source-dirty", tuple(lines[:10]), source=path, count=len(lines))
    return Source(str(path), checkout(recipe), commit, commit, ref, "repository")


def _bundled(path: Path, ref: str, recipe: Recipe) -> Source:
    """A bundle, as the repository that it has. One of a tag alone has no HEAD: the recipe's ref."""
    place = cache_dir() / "sources" / f"{path.stem[:40]}-{sha256(path)[:16]}.git"
    top = bundle.repository(path, place)
    return _repository(top, ref or ("HEAD" if git.commit_of(top, "HEAD") else recipe.ref), recipe)


def _remote(recipe: Recipe, url: str, ref: str, network: Network) -> Source:
    """A repository elsewhere; what the recipe or the ref itself pins is not asked for."""
    known = recipe.commits.get(ref) if url == recipe.repository else None
    named = ref.lower() if COMMIT.fullmatch(ref.lower()) else None
    commit = known or named or _asked(url, ref, network)
    return Source(url, checkout(recipe), commit, commit, ref, "remote")


def _asked(url: str, ref: str, network: Network) -> str:
    """The commit that a tag, a branch or a ref by its whole name is in a remote repository now."""
    if network.offline:
        raise PaddockError("source-offline", source=hidden(url), ref=ref)
    names = [f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}", f"refs/heads/{ref}", ref]
    answer = git.must(url, None, "ls-remote", "--end-of-options", url, *names, network=network)
    rows = dict(line.split("\t")[::-1] for line in answer.splitlines() if "\t" in line)
    found = next((rows[name] for name in names if name in rows), None)
    if found is None:
        raise PaddockError("source-ref", ref=ref, source=hidden(url))
    return found


def checkout(recipe: Recipe) -> Path:
    """Where the checkout of a repository is kept: one for all its commits and all its clones.

    Compilers are started only for the files that differ, and the compiler's cache knows them again.
    """
    name = recipe.repository.rstrip("/").rpartition("/")[2].removesuffix(".git")
    return cache_dir() / "sources" / name


def _listed(folder: Path) -> str:
    """A digest of the names, sizes and times of a folder's files."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        row = (str(path.relative_to(folder)), status.st_mode, status.st_size, status.st_mtime_ns)
        if not path.is_dir():
            found.update(repr(row).encode("utf-8", "surrogateescape"))
    return found.hexdigest()
