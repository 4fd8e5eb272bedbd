"""Brings the submodules of sources: of a prepared tree, or of where they are recorded to be."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

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
        names = [str(Path(one.path).relative_to(top)) for one in gone if outer(one, recipe) == top]
        if names and all(one.path != top for one in gone):
            said = _update(source, root / top, Path(source.origin) / top, names, network) or said
    return missing(source, root, recipe, known), said


def name_tags(root: Path, recipe: Recipe, known: dict[str, str]) -> None:
    """Let the submodules know the tags by which these sources check them out."""
    for module in wanted_modules(recipe, root, known):
        place = root / module.path
        if module.tag and (place / ".git").exists() and (name := module.tag.name(root)):
            git.git(place, "update-ref", f"refs/tags/{name}", "HEAD", "0" * 40)


def is_prepared(source: Source, given: Path, names: Sequence[str]) -> bool:
    """Whether the user's own clone has these submodules checked out."""
    return source.kind == "repository" and all((given / one / ".git").exists() for one in names)


def _update(source: Source, top: Path, given: Path, names: Sequence[str], network: Network) -> str:
    """Check submodules of one repository out. Returns what git said of one that it cannot have.

    The recorded commits alone are fetched, side by side: `git submodule update` would fetch what is
    newest as well, and one after another. A prepared tree is not asked to be online.
    """
    prepared = is_prepared(source, given, names)
    if not prepared and network.offline:
        return ""
    git.git(top, "submodule", "--quiet", "init", "--", *names)
    found = together([
        partial(_take, top, name, str(given / name) if prepared else "", network) for name in names
    ])  # fmt: skip
    return next(filter(None, found), "")


def _take(top: Path, name: str, url: str, network: Network) -> str:
    """Fetch the recorded commit of one and check it out; why that failed, "" where it did not."""
    store = Path(git.git(top, "rev-parse", "--absolute-git-dir").out.strip(), "modules", name)
    git.tidy(store)
    if (top / name / ".git").exists() and git.git(top / name, "rev-parse", "--git-dir").status:
        shutil.rmtree(store, ignore_errors=True)  # killed before it was a repository
        (top / name / ".git").unlink()
    store.parent.mkdir(parents=True, exist_ok=True)
    recorded = git.git(top, "rev-parse", f"HEAD:{name}").out.strip()
    url = url or git.git(top, "config", f"submodule.{name}.url").out.strip()
    answer = git.begin(top / name, f"--separate-git-dir={store}")
    if answer.status == 0:
        answer = git.take(top / name, url, recorded, network)
    if answer.status == 0:
        answer = git.git(top / name, "checkout", "--quiet", "--force", "--detach", recorded)
    return f"{name}: {git.reason(answer)}" if answer.status != 0 else ""
