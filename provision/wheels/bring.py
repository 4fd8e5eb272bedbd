"""Brings sources to where they are built: the commit that is wanted, and its submodules."""

from __future__ import annotations

import shutil
from pathlib import Path

from provision.errors import PaddockError
from provision.network import Network
from provision.wheels import archive, git
from provision.wheels.recipe import Module, Recipe
from provision.wheels.source import Source, given_files, wanted_modules

# Git lets a submodule come from a folder only when asked: CVE-2022-39253.
_LOCAL = ("-c", "protocol.file.allow=always")


def bring(source: Source, recipe: Recipe, network: Network) -> Path:
    """The top folder of the sources. Raises PaddockError `source-*`, `package-*`, `no-network`."""
    if source.kind == "folder":
        return source.root
    source.root.parent.mkdir(parents=True, exist_ok=True)
    if source.kind == "archive":
        return archive.unpacked(Path(source.origin), source.root)
    if not (source.root / ".git").is_dir():
        _begin(source)
    if git.git(source.root, "cat-file", "-e", f"{source.commit}^{{commit}}").status:
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
    git.must(source.origin, None, "init", "--quiet", draft)
    git.must(source.origin, draft, "remote", "add", "origin", source.origin)
    # Links as text files would break the build without a word, whatever the user's own setting.
    git.must(source.origin, draft, "config", "core.symlinks", "true")
    draft.rename(source.root)


def _fetch(source: Source, network: Network) -> None:
    """The commit alone from elsewhere; all that is needed of a repository here."""
    if source.kind == "remote" and network.offline:
        raise PaddockError("source-offline", source=source.origin, ref=source.ref)
    depth = ["--depth", "1"] if source.kind == "remote" else []
    what = source.commit if source.kind == "remote" else "+refs/*:refs/origin/*"
    _must(source, "fetch", "--quiet", "--no-tags", *depth, "origin", what, network=network)


def _must(source: Source, *arguments: str, network: Network | None = None) -> str:
    return git.must(source.origin, source.root, *arguments, network=network)


def modules(
    source: Source, root: Path, recipe: Recipe, known: dict[str, str], network: Network
) -> tuple[list[Module], str]:
    """Check the submodules out, of a prepared tree or of where they are recorded to be.

    Returns those that cannot be had, and what git said last.
    """
    missing = [one for one in wanted_modules(recipe, root, known) if not one.there(root)]
    said = ""
    if source.kind in ("repository", "remote"):
        for top in dict.fromkeys(_outer(one, recipe) for one in missing):
            names = [str(Path(one.path).relative_to(top)) for one in missing
                     if _outer(one, recipe) == top]  # fmt: skip
            said = _update(source, root / top, Path(source.origin) / top, names, network) or said
    return [one for one in missing if not one.there(root)], said


def _outer(module: Module, recipe: Recipe) -> str:
    """The submodule in which a submodule is; "." for the repository itself."""
    paths = (up.path for up in recipe.modules if module.path.startswith(f"{up.path}/"))
    return next(paths, ".")


def _update(source: Source, top: Path, given: Path, names: list[str], network: Network) -> str:
    """Check submodules of one repository out, side by side. Returns what git said if it failed.

    From elsewhere only the recorded commits are fetched; a prepared tree is not asked to be online.
    """
    prepared = source.kind == "repository" and all((given / n / ".git").exists() for n in names)
    if not prepared and network.offline:
        return ""
    for name in names if prepared else ():
        git.git(top, "config", f"submodule.{name}.url", str(given / name))
    depth = [] if prepared else ["--depth", "1"]
    done = git.git(top, *(_LOCAL if prepared else ()), "submodule", "--quiet", "update", "--init",
                   "--jobs", "4", *depth, "--", *names, network=network)  # fmt: skip
    return done.lines[-1].strip() if done.status and done.lines else ""


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
