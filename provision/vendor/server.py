"""A server of packages inside a company: what its pages list, and what its SHA256SUMS tell.

The pages are those that nginx, Apache, Artifactory and `python3 -m http.server` write: HTML with a
link for each file. A server that shows no page is taken by its SHA256SUMS alone.
"""

from __future__ import annotations

import functools
import http.client
import re
import urllib.error
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import OpenerDirector

from provision.errors import PaddockError
from provision.network import Network
from provision.vendor import web
from provision.vendor.offer import Offer, name_of

SUMS = "SHA256SUMS"
_PAGE = 8 << 20  # bytes of a page that are read at most
_FOLDERS = 100  # of a server that are looked into


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value for name, value in attrs if tag == "a" and name == "href" and value]


class Server:
    """The files at an address and in the folders there. Nothing is asked before it is needed."""

    def __init__(self, url: str, network: Network) -> None:
        self.url, self.login = web.parted(url if url.endswith("/") else f"{url}/")
        self._bundle = network.environment().get("SSL_CERT_FILE")

    @functools.cached_property
    def offers(self) -> tuple[Offer, ...]:
        """Every file, those of the folder itself first. Raises PaddockError `server-failed`."""
        links = self._links(self.url)
        folders = [link for link in links if link.endswith("/")][:_FOLDERS]
        found = [*self._files(self.url, links)]
        for folder in folders:
            found += self._files(folder, self._links(folder))
        return tuple(found)

    @functools.cached_property
    def _opener(self) -> OpenerDirector:
        return web.opener(self._bundle)

    def _files(self, folder: str, links: list[str]) -> Iterator[Offer]:
        files = {name_of(link): link for link in links if not link.endswith("/")}
        sums = self._sums(folder + SUMS) if SUMS in files or not links else {}
        files = {name: folder + quote(name) for name in sums} | files
        if not files and not links and folder == self.url:
            raise PaddockError("server-failed", url=folder, reason=f"no link, no {SUMS}")
        for name, url in files.items():
            if name != SUMS:
                yield Offer(name, url, sums.get(name, ""), login=bool(self.login))

    def _links(self, folder: str) -> list[str]:
        """What the page of a folder links to in it; nothing where it shows no page."""
        try:
            page, base = self._read(folder)
        except urllib.error.HTTPError as error:
            if error.code in (403, 404) and self._sums(folder + SUMS):
                return []
            raise self._failed(folder, error) from None
        parser = _Links()
        parser.feed(page)
        found = (urljoin(base, link).partition("#")[0] for link in parser.links)
        return list(dict.fromkeys(one for one in found if _is_below(one, base)))

    def _sums(self, url: str) -> dict[str, str]:
        """The digests of a file as `sha256sum` writes it, by name; nothing where there is none."""
        try:
            lines = self._read(url)[0].splitlines()
        except urllib.error.HTTPError as error:
            if error.code in (403, 404):
                return {}
            raise self._failed(url, error) from None
        found = (
            re.fullmatch(r"([0-9a-fA-F]{64}) [ *](?:\./)?([^/\s]+)\s*", line) for line in lines
        )
        return {match[2]: match[1].lower() for match in found if match}

    def _read(self, url: str) -> tuple[str, str]:
        """A page and its address after it was sent on. Raises HTTPError, PaddockError."""
        try:
            ask = web.request(url, self.login)
            with self._opener.open(ask, timeout=web.SILENCE) as answer:
                return answer.read(_PAGE).decode("utf-8", "replace"), answer.url
        except urllib.error.HTTPError:
            raise
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._failed(url, error) from None

    def _failed(self, url: str, error: BaseException) -> PaddockError:
        return PaddockError("server-failed", url=url, reason=web.told(error))


def _is_below(url: str, base: str) -> bool:
    """Whether an address lies just in this folder: a file or a folder, no query, nothing else."""
    one, folder = urlsplit(url), urlsplit(base)
    top = folder.path.rpartition("/")[0] + "/"
    rest = one.path[len(top) :].rstrip("/") if one.path.startswith(top) else ""
    same = (one.scheme, one.netloc) == (folder.scheme, folder.netloc)
    return same and bool(rest) and "/" not in rest and not one.query
