"""Brings the submodules of sources: of a prepared tree, or of where they are recorded to be."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from provision.errors import PaddockError
from provision.facts.command import Answer
from provision.facts.together import together
from provision.network import Network
from provision.wheels import git
from provision.wheels.recipe import Recipe
from provision.wheels.rows import Module
from provision.wheels.source import Source
from provision.words import text


def wanted(recipe: Recipe, root: Path, known: dict[str, str]) -> list[Module]:
    """The submodules that these sources need."""
    return [one for one in recipe.modules if one.applies(root / recipe.folder, known)]


def missing(source: Source, root: Path, recipe: Recipe, known: dict[str, str]) -> list[Module]:
    """The submodules that these sources need and that are not checked out as recorded."""
    needed = wanted(recipe, root, known)
    if not source.has_history:
        return [one for one in needed if not one.there(root)]
    return [one for one in needed if not _is_whole(root / outer(one, recipe), root, one)]


def _is_whole(top: Path, root: Path, module: Module) -> bool:
    """Whether it is at the commit that `top` records, and no checkout of it was broken off."""
    place = root / module.path
    if not module.there(root) or not (place / ".git").exists():
        return module.there(root)
    recorded = git.recorded(top, str(place.relative_to(top)))
    said = git.git(place, "rev-parse", "HEAD", "--absolute-git-dir")
    if said.status != 0:
        return False
    head, folder = said.out.split("\n", 1)
    index = Path(folder.rstrip("\n"), "index")
    return head == recorded and index.is_file() and not index.with_name("index.lock").exists()


def outer(module: Module, recipe: Recipe) -> str:
    """The submodule in which a submodule is; "." for the repository itself."""
    paths = (up.path for up in recipe.modules if module.path.startswith(f"{up.path}/"))
    return next(paths, ".")


def check_out(
    source: Source, root: Path, recipe: Recipe, known: dict[str, str], network: Network
) -> tuple[list[Module], str]:
    """Check the submodules out, the outer ones first.

    Returns those that cannot be had, and what git said of one of them.
    """
    said = ""
    tops = dict.fromkeys(outer(one, recipe) for one in recipe.modules) if source.has_history else ()
    for top in tops:
        gone = missing(source, root, recipe, known)
        paths = [one.path for one in gone if outer(one, recipe) == top]
        if paths and all(one.path != top for one in gone):
            said = _update(source, root, top, paths, network) or said
    return missing(source, root, recipe, known), said


def name_tags(root: Path, recipe: Recipe, known: dict[str, str]) -> None:
    """Let the submodules know the tags by which these sources check them out."""
    for module in wanted(recipe, root, known):
        place = root / module.path
        if module.tag and (place / ".git").exists() and (name := module.tag.name(root)):
            git.git(place, "update-ref", f"refs/tags/{name}", "HEAD", "0" * 40)


def refuse_changed(source: Source, recipe: Recipe, known: dict[str, str]) -> None:
    """Raises PaddockError `source-dirty` where submodules of a person's clone are not as recorded.

    What is recorded gets built; the changes would be left out without a word.
    """
    if source.kind != "repository" or source.ref:
        return
    top = Path(source.origin)
    calls = [partial(_changes, top, one, recipe) for one in wanted(recipe, top, known)
             if is_prepared(source, one.path)]  # fmt: skip
    if lines := [line for found in together(calls) for line in found]:
        raise PaddockError("source-dirty", tuple(lines[:10]), source=top, count=len(lines))


def _changes(top: Path, module: Module, recipe: Recipe) -> list[str]:
    """How a submodule differs from what is recorded of it, in lines of `git status`."""
    place, up = top / module.path, top / outer(module, recipe)
    recorded = git.recorded(up, str(place.relative_to(up)))
    moved = [] if git.commit_of(place, "HEAD") == recorded else [f" M {module.path}"]
    return moved + [f"{line[:3]}{module.path}/{line[3:]}" for line in git.changed(place)]


def is_prepared(source: Source, path: str) -> bool:
    """Whether the user's own clone has this submodule checked out."""
    return source.kind == "repository" and (Path(source.origin) / path / ".git").exists()


def _update(source: Source, root: Path, top: str, paths: Sequence[str], network: Network) -> str:
    """Check submodules of one repository out. Returns what git said of one that it cannot have.

    The recorded commits alone are fetched, side by side: `git submodule update` would fetch what is
    newest as well, and one after another. Of a prepared tree nothing has to be online.
    """
    clone = Path(source.origin, top) if source.kind == "repository" else None
    names = [str(Path(path).relative_to(top)) for path in paths]
    git.git(root / top, "submodule", "--quiet", "init")
    git.git(root / top, "submodule", "--quiet", "sync")  # another mirror's may be noted there
    found = [_addresses(root / top, clone, name, network) for name in names]
    calls = [partial(_take, root / top, *each, network) for each in zip(names, found, strict=True)]
    return next(filter(None, together(calls)), "")


def _addresses(top: Path, clone: Path | None, path: str, network: Network) -> list[str]:
    """Where a submodule may be had: in the user's clone, where that names, where it is recorded."""
    found = [str(clone / path)] if clone and (clone / path / ".git").exists() else []
    if not network.offline:
        key = f"submodule.{_name(top, path)}.url"
        tops = filter(None, (clone, top))
        found += [git.git(one, "config", key).out.strip() for one in tops]
    return list(dict.fromkeys(filter(None, found)))


def _take(top: Path, path: str, addresses: Sequence[str], network: Network) -> str:
    """Fetch the recorded commit of one and check it out; why that failed, "" where it did not."""
    place, recorded = top / path, git.recorded(top, path)
    if not recorded:
        return text("source.unrecorded", path=path)
    if not addresses:
        return ""
    own = git.git(top, "rev-parse", "--absolute-git-dir").out.strip()
    store = Path(own, "modules", _name(top, path))
    answer = _tried(place, store, addresses, recorded, network)
    is_told = not answer.status or git.failed(path, place, answer).code != "source-missing"
    if not is_told and not git.is_sound(place):
        shutil.rmtree(store, ignore_errors=True)  # killed before it was whole, or damaged since
        (place / ".git").unlink(missing_ok=True)
        answer = _tried(place, store, addresses, recorded, network)
    return f"{path}: {git.reason(answer)}" if answer.status != 0 else ""


def _tried(
    place: Path, store: Path, addresses: Sequence[str], recorded: str, network: Network
) -> Answer:
    """One try to have a submodule from the first address that gives it."""
    git.tidy(store)
    store.parent.mkdir(parents=True, exist_ok=True)
    answer = git.begin(place, f"--separate-git-dir={store}")
    for address in addresses if answer.status == 0 else ():
        answer = git.take(place, address, recorded, network)
        if answer.status == 0:
            checkout = ("checkout", "--quiet", "--force", "--detach", recorded)
            return git.git(place, *checkout, network=network)  # it ends with this process
    return answer


def _name(top: Path, path: str) -> str:
    """What git calls the submodule at a path; mostly the path itself."""
    rows = git.git(top, "config", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$")
    found = (row.partition(" ") for row in rows.out.splitlines())
    names = (key[len("submodule.") : -len(".path")] for key, _, value in found if value == path)
    return next(names, path)
