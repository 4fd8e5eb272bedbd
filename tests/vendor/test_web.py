"""How a server is reached: a private CA, a proxy, and no way from https back to http."""

from __future__ import annotations

import http.server
import ssl
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message
from io import BytesIO
from pathlib import Path

import pytest

from provision.errors import PaddockError
from provision.network import CERTIFICATES, Network
from provision.vendor import web
from provision.vendor.server import Server
from tests.vendor.faulty import serving

PAGE = b'<a href="a.run">a.run</a>'


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*CERTIFICATES, "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy",
                 "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def private(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server whose certificate is in a file that no system knows."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"https://localhost:{server.server_port}/", certificate
    server.shutdown()
    server.server_close()


def test_a_private_ca_is_known_by_its_bundle_alone(
    private: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, certificate = private
    with pytest.raises(PaddockError, match="gives no list") as caught:
        _ = Server(url, Network()).offers
    assert "CERTIFICATE_VERIFY_FAILED" in str(caught.value)
    assert Server(url, Network(ca_bundle=certificate)).offers[0].name == "a.run"
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    assert Server(url, Network()).offers[0].name == "a.run"


def test_a_bundle_that_is_gone_is_told(private: tuple[str, Path], tmp_path: Path) -> None:
    with pytest.raises(PaddockError, match=r"gone\.pem"):
        _ = Server(private[0], Network(ca_bundle=tmp_path / "gone.pem")).offers


def test_a_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as proxy:
        proxy.files["http://packages.example/x/"] = PAGE
        monkeypatch.setenv("http_proxy", proxy.url().rstrip("/"))
        (offer,) = Server("http://packages.example/x", Network()).offers
        assert offer.url == "http://packages.example/x/a.run"


def sent_on(old: str, new: str) -> urllib.request.Request | None:
    handler = web._Redirect()
    ask = web.request(old, "u:p")
    return handler.redirect_request(ask, BytesIO(), 302, "Found", Message(), new)  # type: ignore[arg-type]


def test_nothing_leads_from_https_to_http() -> None:
    with pytest.raises(urllib.error.URLError):
        sent_on("https://one.example/a", "http://one.example/a")
    for new, has_login in (("https://one.example/b", True), ("https://two.example/b", False),
                           ("https://one.example:444/b", False)):  # fmt: skip
        made = sent_on("https://one.example/a", new)
        assert made and ("Authorization" in made.unredirected_hdrs) == has_login


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://u:p%40w@h.example/a%20b/", ("https://h.example/a%20b/", "u:p@w")),
        ("http://h.example:81/a b/#x", ("http://h.example:81/a%20b/", "")),
        ("https://u:p@ss@h.example/", ("https://h.example/", "u:p@ss")),
    ],
)
def test_the_login_is_no_part_of_the_address(url: str, parts: tuple[str, str]) -> None:
    assert web.parted(url) == parts
