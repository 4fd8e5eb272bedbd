"""Where a library may lie although the loader does not look there, and what it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from provision.document import Table, tables
from provision.facts.linking import loader_cache
from provision.paths import IMAGES


class Product(Table, frozen=True):
    """A row of `images/library_folders.toml`: folders (patterns) and libraries of a product."""

    name: str
    folders: list[str]
    libraries: list[str]
    source: str
    seen: str


@cache
def products() -> list[Product]:
    """The known products."""
    return tables(IMAGES / "library_folders.toml", "products", Product)


class Folders:
    """The folders to look into: given ones, those of /etc/ld.so.conf, and the vendors'."""

    def __init__(self, root: Path, given: Sequence[str]) -> None:
        vendors = [
            folder
            for product in products()
            for pattern in product.folders
            for folder in sorted(root.glob(pattern.lstrip("/")))
        ]
        self._folders = [*map(Path, given), *loader_cache.configured(root), *vendors]

    def near(self, name: str, beside: Path) -> list[str]:
        """The files of this name, first the one beside the file that asks for it."""
        paths = [folder / name for folder in dict.fromkeys([beside, *self._folders])]
        return [str(path) for path in paths if path.is_file()]

    def product(self, name: str) -> str | None:
        """The product that a library belongs to; None where that is not known."""
        return next((one.name for one in products() if name in one.libraries), None)
