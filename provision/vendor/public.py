"""What vendors hand out to whoever accepts their licence: `images/TARGET/downloads.toml`."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from provision.document import Table, read
from provision.vendor.offer import Offer, name_of
from provision.vendor.rows import Sha256

# Addresses become arguments of a command: the alphabet is closed, as that of names is.
Address = Annotated[str, msgspec.Meta(pattern=r"\Ahttps?://[A-Za-z0-9._~:/%+-]+\Z")]
Below = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9._~/%+-]+\Z")]
SiteName = Annotated[str, msgspec.Meta(pattern=r"\A[a-z0-9][a-z0-9-]*\Z")]


class Listed(Table, frozen=True):
    """Files below a site's `base`, each with its published SHA-256, and where that is told."""

    source: str
    seen: str
    files: dict[Below, Sha256]


class Site(Table, frozen=True):
    """One vendor's site; `licence` is the address of the text that `--accept-eula` agrees to.

    `referer` is a header without which the site refuses.
    """

    vendor: str
    title: str
    licence: Address
    base: Address
    source: str
    seen: str
    lists: list[Listed]
    referer: Address | None = None

    def offers(self) -> Iterator[Offer]:
        """Every file."""
        for one in self.lists:
            for path, digest in one.files.items():
                url = self.base + path
                yield Offer(name_of(url), url, digest, self.referer or "")


class Downloads(Table, frozen=True):
    """The sites of a target, by the name that `--accept-eula` takes."""

    sites: dict[SiteName, Site]


@functools.cache
def sites(folder: Path) -> dict[str, Site]:
    """The sites of a target's folder. Raises PaddockError of the classes `stack-*`."""
    file = folder / "downloads.toml"
    if not file.is_file():
        return {}
    return dict(read(file, Downloads, Site, Listed).sites)


@functools.cache
def published(folder: Path) -> dict[str, str]:
    """The digest of each file that a vendor publishes one for, by file name."""
    return {one.name: one.sha256 for site in sites(folder).values() for one in site.offers()}
