"""A package index on the loopback interface, and a lock for the one package that it adds."""

from __future__ import annotations

import contextlib
import hashlib
import ssl
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from provision.distributions import wheel_name


@dataclass
class Index:
    """Serves these wheels by the "simple" protocol; each answer waits `delay` seconds first."""

    wheels: list[Path]
    delay: float = 0.0
    scheme: str = "http"
    port: int = 0
    asked: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{self.scheme}://localhost:{self.port}/simple"

    def answer(self, path: str) -> bytes | None:
        """The page of a project, or a wheel; None for anything else."""
        self.asked.append(path)
        time.sleep(self.delay)
        name = path.rstrip("/").rpartition("/")[2]
        if path.startswith("/simple/"):
            names = [w.name for w in self.wheels if w.name.startswith(f"{name}-")]
            return "".join(f'<a href="/files/{n}">{n}</a>\n' for n in names).encode() or None
        return next((w.read_bytes() for w in self.wheels if w.name == name), None)


@contextlib.contextmanager
def served(wheels: list[Path], certificate: Path | None = None) -> Iterator[Index]:
    """A running index, over HTTPS when a certificate (with its key in the same file) is given."""
    index = Index(wheels, scheme="https" if certificate else "http")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = index.answer(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            if self.command == "GET":
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.wfile.write(body or b"")

        do_HEAD = do_GET  # noqa: N815 - the name that http.server calls

        def log_message(self, format: str, *args: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("localhost", 0), Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    index.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()


def tiny_wheel(folder: Path) -> Path:
    """The wheel of a package with one module, `tiny`, and one script, `tiny-says`."""
    wheel = folder / "tiny-1.0-py3-none-any.whl"
    info = "tiny-1.0.dist-info"
    files = {
        "tiny.py": "def main():\n    print('tiny was here')\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntiny-says = tiny:main\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, text)
    return wheel


def lock_for(wheel: Path) -> str:
    """A lock that pins this wheel and nothing else."""
    name, version, _ = wheel_name(wheel.name)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return f"{name}=={version} \\\n    --hash=sha256:{digest}\n"
