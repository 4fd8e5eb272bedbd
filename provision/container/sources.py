"""Puts sources to build from into a container: fetched on this machine, then copied.

Here are the network's ways, and what git knows of passwords; there only what is built is needed.
"""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from provision.container.inside import Inside
from provision.container.packing import add_sources, add_text, owned_by_root, place
from provision.digest import sha256
from provision.network import Network
from provision.paths import cache_dir
from provision.steps.built import Order
from provision.wheels import git, modules
from provision.wheels.bring import bring
from provision.wheels.recipe import Recipe
from provision.wheels.source import Source, find, given_files


@dataclass(frozen=True)
class Copy:
    """The sources of one flag, as a container gets them."""

    inside: Inside
    flag: str
    recipe: Recipe
    order: Order

    @property
    def path(self) -> Path:
        """Where they are in there: a folder, a repository or an archive."""
        return self.inside.home / "sources" / self.flag

    @property
    def is_address(self) -> bool:
        """Whether they are elsewhere."""
        return "://" in self.order.origin

    @property
    def is_there(self) -> bool:
        """Whether just these were copied before; of an address its ref counts."""
        return self.inside.read(self._stamp) == self._content

    def put(self, network: Network) -> None:
        """Copy them; what is half there after this call is not taken for the whole.

        Raises PaddockError: `source-*`, `no-network`, `container-disk`.
        """
        found = find(self.recipe, self.order.origin, self.order.ref, network)
        draft = cache_dir() / "sources" / "container"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        try:
            with tarfile.open(draft / "archive.tar", mode="w") as archive:
                if self._add(archive, found, draft / "clone", network):
                    add_text(archive, self._stamp, self._content)
            self.inside.replace([self._stamp, self.path], draft / "archive.tar")
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    @property
    def _stamp(self) -> Path:
        return self.path.with_name(f".{self.flag}")

    @property
    def _content(self) -> str:
        """What tells these sources from others: where they lie on this machine does not matter."""
        order = self.order
        own = f"{order.origin} {order.ref}" if self.is_address else order.identity
        rows = [f"{sha256(file)}  {name}" for name, file in self._handed_out()]
        return "\n".join([own, *rows])

    def _handed_out(self) -> Iterator[tuple[str, Path]]:
        """What the vendor hands out and the person has put into the sources, by its name there."""
        for name in given_files(self.recipe):
            if (file := Path(self.order.origin, name)).is_file():
                yield name, file

    def _add(self, archive: tarfile.TarFile, found: Source, clone: Path, network: Network) -> bool:
        """Whether all of them could be had."""
        if found.kind == "folder":
            add_sources(archive, found.root.resolve(), self.path)
            return True
        is_clone = found.kind != "archive"
        is_whole = self._clone(found, clone, network) if is_clone else True
        file = clone if is_clone else Path(found.origin).resolve()
        archive.add(file, place(self.path), filter=owned_by_root)
        return is_whole

    def _clone(self, found: Source, clone: Path, network: Network) -> bool:
        """Repositories of the commits alone: a bare one, and in it, at their paths, its submodules.

        A submodule that cannot be had now is told by the build, with all else that it lacks.
        """
        root = bring(found, self.recipe, network)
        known = self.recipe.here()
        missing, _ = modules.check_out(found, root, self.recipe, known, network)
        _take(root, clone, "--bare")
        for one in modules.wanted(self.recipe, root, known):
            if one not in missing and (root / one.path / ".git").exists():
                _take(root / one.path, clone / one.path)
        for name, file in self._handed_out():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, clone / name)
        return not missing


def _take(checkout: Path, clone: Path, *how: str) -> None:
    """A repository with nothing but the commit that is checked out there, and no work tree."""
    git.begin(clone, *how)
    fetch = ("fetch", "--quiet", "--no-tags", "--update-shallow", "--depth", "1")
    git.must(str(checkout), clone, *fetch, checkout, "HEAD")
    git.must(str(checkout), clone, "update-ref", "--no-deref", "HEAD", "FETCH_HEAD")
