"""Brings the submodules of sources: of a prepared tree, or of where they are recorded to be."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from provision.errors import PaddockError
from provision.facts.together import together
from provision.network import Network
from provision.wheels import git
from provision.wheels.recipe import Module, Recipe
from provision.wheels.source import Source, wanted_modules


def missing(source: Source, root: Path, recipe: Recipe, known: dict[str, str]) -> list[Module]:
    """The submodules that these sources need and that are not checked out as recorded."""
    wanted = wanted_modules(recipe, root, known)
    if source.kind not in ("repository", "remote"):
        return [one for one in wanted if not one.there(root)]
    return [one for one in wanted if not _is_whole(root / outer(one, recipe), root, one)]


def _is_whole(top: Path, root: Path, module: Module) -> bool:
    """Whether it is at the commit that `top` records, and no checkout of it was broken off."""
    place = root / module.path
    if not module.there(root) or not (place / ".git").exists():
        return module.there(root)
    recorded = git.git(top, "rev-parse", f"HEAD:{place.relative_to(top)}").out.strip()
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


def modules(
    source: Source, root: Path, recipe: Recipe, known: dict[str, str], network: Network
) -> tuple[list[Module], str]:
    """Check the submodules out, the outer ones first.

    Returns those that cannot be had, and what git said of one of them.
    """
    said = ""
    has_history = source.kind in ("repository", "remote")
    tops = dict.fromkeys(outer(one, recipe) for one in recipe.modules) if has_history else ()
    for top in tops:
        gone = missing(source, root, recipe, known)
        paths = [one.path for one in gone if outer(one, recipe) == top]
        if paths and all(one.path != top for one in gone):
            said = _update(source, root, top, paths, network) or said
    return missing(source, root, recipe, known), said


def name_tags(root: Path, recipe: Recipe, known: dict[str, str]) -> None:
    """Let the submodules know the tags by which these sources check them out."""
    for module in wanted_modules(recipe, root, known):
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
    calls = [partial(_changes, top, one, recipe) for one in wanted_modules(recipe, top, known)
             if is_prepared(source, one.path)]  # fmt: skip
    if lines := [line for found in together(calls) for line in found]:
        raise PaddockError("source-dirty", tuple(lines[:10]), source=top, count=len(lines))


def _changes(top: Path, module: Module, recipe: Recipe) -> list[str]:
    """How a submodule differs from what is recorded of it, in lines of `git status`."""
    place, up = top / module.path, top / outer(module, recipe)
    recorded = git.git(up, "rev-parse", f"HEAD:{place.relative_to(up)}").out.strip()
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
    calls = []
    for path in paths:
        given = [str(Path(source.origin, path))] if is_prepared(source, path) else []
        if given or not network.offline:
            name = str(Path(path).relative_to(top))
            calls.append(partial(_take, root / top, name, given, network))
    if calls:
        git.git(root / top, "submodule", "--quiet", "init")
    return next(filter(None, together(calls)), "")


def _take(top: Path, path: str, given: Sequence[str], network: Network) -> str:
    """Fetch the recorded commit of one and check it out; why that failed, "" where it did not."""
    place, name = top / path, _name(top, path)
    store = Path(git.git(top, "rev-parse", "--absolute-git-dir").out.strip(), "modules", name)
    git.tidy(store)
    if (place / ".git").exists() and git.git(place, "rev-parse", "--git-dir").status:
        shutil.rmtree(store, ignore_errors=True)  # killed before it was a repository
        (place / ".git").unlink()
    store.parent.mkdir(parents=True, exist_ok=True)
    recorded = git.git(top, "rev-parse", f"HEAD:{path}").out.strip()
    asked = git.git(top, "config", f"submodule.{name}.url").out.strip()
    answer = git.begin(place, f"--separate-git-dir={store}")
    if answer.status == 0:
        for address in (*given, *([] if network.offline else [asked])):
            answer = git.take(place, address, recorded, network)
            if answer.status == 0:
                break
    if answer.status == 0:
        answer = git.git(place, "checkout", "--quiet", "--force", "--detach", recorded)
    return f"{path}: {git.reason(answer)}" if answer.status != 0 else ""


def _name(top: Path, path: str) -> str:
    """What git calls the submodule at a path; mostly the path itself."""
    rows = git.git(top, "config", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$")
    found = (row.partition(" ") for row in rows.out.splitlines())
    names = (key[len("submodule.") : -len(".path")] for key, _, value in found if value == path)
    return next(names, path)
