"""One file that a server has."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote, urlsplit


class Offer(NamedTuple):
    """A file's name and address; `sha256` is "" where nobody tells it.

    The address holds no user and no password: `login` says whether the server's own belong to it.
    """

    name: str
    url: str
    sha256: str = ""
    referer: str = ""
    login: bool = False


def name_of(url: str) -> str:
    """The file's name: the last part of the address."""
    return unquote(urlsplit(url).path).rpartition("/")[2]
