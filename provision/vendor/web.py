"""How a server is asked: proxies, certificates, a login, and where it sends the question on to."""

from __future__ import annotations

import base64
import errno
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPMessage
from pathlib import Path
from typing import IO
from urllib.parse import quote, unquote, urlsplit, urlunsplit

SILENCE = 60.0  # seconds without a byte after which a server counts as gone


def parted(url: str) -> tuple[str, str]:
    """An address without its user and password, and those as `USER:PASSWORD`; "" for none."""
    parts = urlsplit(url)
    login, _, host = parts.netloc.rpartition("@")
    path = quote(parts.path, safe="/%~+:@!$&'()*,;=")
    return urlunsplit((parts.scheme, host, path, parts.query, "")), unquote(login)


class _Redirect(urllib.request.HTTPRedirectHandler):
    """The login goes along on the same server only; nothing leads from https to http."""

    def redirect_request(  # noqa: PLR0913, PLR0917 - as the library calls it
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str,
        headers: HTTPMessage, newurl: str,
    ) -> urllib.request.Request | None:  # fmt: skip
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if old.scheme == "https" and new.scheme != "https":
            raise urllib.error.URLError(f"sent on from https to {new.scheme}://{new.hostname}")
        made = super().redirect_request(req, fp, code, msg, headers, newurl)
        login = req.unredirected_hdrs.get("Authorization")
        if made and login and (old.scheme, old.netloc) == (new.scheme, new.netloc):
            made.add_unredirected_header("Authorization", login)
        return made


def opener(bundle: str | None = None) -> urllib.request.OpenerDirector:
    """What opens addresses through the proxies of the environment. Raises OSError, ssl.SSLError.

    `bundle` is a file or folder of certificates in place of the system's, or of what SSL_CERT_FILE
    says.
    """
    where = Path(bundle) if bundle else None
    if where and not where.exists():
        raise FileNotFoundError(errno.ENOENT, "no such certificates", str(where))
    trusted = ssl.create_default_context(
        cafile=str(where) if where and not where.is_dir() else None,
        capath=str(where) if where and where.is_dir() else None,
    )
    made = urllib.request.build_opener(urllib.request.HTTPSHandler(context=trusted), _Redirect())
    made.addheaders = []
    return made


def request(
    url: str, login: str = "", headers: Mapping[str, str] | None = None
) -> urllib.request.Request:
    """A question for a file as it is, not packed for the way. `login` is `USER:PASSWORD`."""
    asked = {"User-Agent": "paddock", "Accept-Encoding": "identity", **(headers or {})}
    made = urllib.request.Request(url, headers=asked)  # noqa: S310 - flags and data have the scheme
    if login:
        token = base64.b64encode(login.encode()).decode()
        made.add_unredirected_header("Authorization", f"Basic {token}")
    return made


def told(error: BaseException) -> str:
    """An error of the network in a few words."""
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code} {error.reason}"
    reason = getattr(error, "reason", None) or error
    return str(reason) or type(reason).__name__
