"""A real server on loopback that does what it is told: cuts, lies, is silent, sends elsewhere."""

from __future__ import annotations

import contextlib
import gzip
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Faulty:
    """`files` are served by path. `cuts` are how many bytes each of the next answers may send.

    With a `referer`, who comes from elsewhere is refused.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    cuts: list[int] = field(default_factory=list)
    tag: str = '"v1"'
    referer: str = ""
    pause: float = 0.0
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    port: int = 0

    def url(self, path: str = "", login: str = "", host: str = "127.0.0.1") -> str:
        """The address of a path."""
        return f"http://{login}{'@' * bool(login)}{host}:{self.port}/{path}"

    def ranges(self) -> list[str]:
        """What the questions for files have asked to begin with; "" for the whole file."""
        return [headers.get("Range", "") for _, headers in self.asked]


def _wait(seconds: float) -> None:
    """As `time.sleep`, which tests may have made short."""
    threading.Event().wait(seconds)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        told = self.server.told
        path = self.path.lstrip("/")
        told.asked.append((path, dict(self.headers)))
        fault = told.faults.get(path, "")
        if told.referer not in ("", self.headers.get("Referer")):
            self.send_error(403)
        elif fault.isdigit():
            self.send_error(int(fault))
        elif fault.startswith("http"):
            self._send(302, b"", Location=fault)
        elif fault == "silent":
            _wait(1)
        elif path in told.files:
            self._file(told.files[path], fault)
        else:
            self.send_error(404)
        self.close_connection = True

    def _file(self, content: bytes, fault: str) -> None:
        told = self.server.told
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = fault == "any-range" or self.headers.get("If-Range", told.tag) == told.tag
        start, total = int(asked[1]) if asked and same else 0, len(content)
        extra = {"ETag": told.tag} if told.tag else {}
        if fault == "gzip":
            content, total, start = gzip.compress(content), 0, 0
            extra["Content-Encoding"] = "gzip"
        if fault == "long":
            extra["Content-Length"] = str(total + 7)
        if fault == "chunked":
            extra = {"Transfer-Encoding": "chunked"}
        if start or (asked and same):
            if start >= total:
                return self.send_error(416)
            extra["Content-Range"] = f"bytes {start}-{total - 1}/{total}"
        self._send(206 if "Content-Range" in extra else 200, content[start:], **extra)
        return None

    def _send(self, status: int, content: bytes, **headers: str) -> None:
        told = self.server.told
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            if not (name == "Content-Length" and "Transfer-Encoding" in headers):
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        cut = told.cuts.pop(0) if told.cuts and content else len(content)
        with contextlib.suppress(ConnectionError):
            for at in range(0, min(cut, len(content)), 65536):
                block = content[at : min(at + 65536, cut)]
                if "Transfer-Encoding" in headers:
                    block = f"{len(block):x}\r\n".encode() + block + b"\r\n"
                self.wfile.write(block)
                _wait(told.pause)
            if told.faults.get(self.path.lstrip("/")) == "stalls":
                self.wfile.flush()
                _wait(1)
            if "Transfer-Encoding" in headers and cut >= len(content):
                self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        """Nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    told: Faulty


@contextlib.contextmanager
def serving() -> Iterator[Faulty]:
    """A server on a free port of loopback."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.told = Faulty(port=server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.told
    finally:
        server.shutdown()
        server.server_close()
