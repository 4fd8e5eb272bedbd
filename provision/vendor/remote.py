"""From where a run may download what the folder of packages lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from provision.vendor.offer import Offer
from provision.vendor.public import Site, published, sites

if TYPE_CHECKING:
    from provision.vendor.server import Server


@dataclass(frozen=True)
class Remote:
    """A server of one's own, and the vendors' sites whose licence was `accepted`, by name."""

    server: Server | None = None
    accepted: frozenset[str] = frozenset()
    offline: bool = False

    def offers(self, folder: Path) -> Iterator[Offer]:
        """What may be downloaded for the target of a folder; a published digest goes first.

        Raises PaddockError `server-failed`.
        """
        if self.offline:
            return
        known = published(folder)
        own: Iterable[Offer] = self.server.offers if self.server else ()
        yield from (one._replace(sha256=known.get(one.name, one.sha256)) for one in own)
        for name, site in sites(folder).items():
            if name in self.accepted:
                yield from site.offers()

    def locked(self, folder: Path) -> Iterator[tuple[str, Site, Offer]]:
        """What could be downloaded as well, once a licence was accepted."""
        for name, site in sites(folder).items():
            if name not in self.accepted:
                yield from ((name, site, one) for one in site.offers())
