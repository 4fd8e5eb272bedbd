"""Git over HTTP on this machine, as a host of repositories serves it, with some hosts' traps."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from tests.recipes.upstream import MODULES, commit, git, upstream


@dataclass
class Host:
    """A server of the repositories in `folder`, and what was asked of it.

    An `old` one speaks no version 2 of the protocol: then it gives no commit but a branch's tip. A
    `plain` one hands out files. `stalls` names a repository whose pack stops half-way for ever.
    """

    folder: Path
    old: bool = False
    plain: bool = False
    stalls: str = ""
    url: str = ""
    asked: list[tuple[str, float, float]] = field(default_factory=list)
    stalled: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)

    def at_once(self) -> int:
        """How many packs were under way at one time, at the most."""
        packs = [(began, ended) for path, began, ended in self.asked if "upload-pack" in path]
        return max((sum(b <= at < e for b, e in packs) for at, _ in packs), default=0)


class Handler(BaseHTTPRequestHandler):
    """Hands a request to `git http-backend`, as a web server does."""

    server: Server

    def log_message(self, *_: object) -> None:
        """Nothing: the tests read `asked`."""

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, body: bytes) -> None:
        host, began, url = self.server.host, time.monotonic(), urlsplit(self.path)
        if host.plain:
            path = host.folder / url.path.lstrip("/")
            self.send_response(200 if path.is_file() else 404)
            self.end_headers()
            self.wfile.write(path.read_bytes() if path.is_file() else b"")
        else:
            time.sleep(0.1 if body else 0)  # so that packs that are asked for at once overlap
            self._write(url.path, *self._backend(url.path, url.query, body))
        host.asked.append((url.path, began, time.monotonic()))

    def _backend(self, path: str, query: str, body: bytes) -> tuple[dict[str, str], bytes]:
        """The headers and the content that git answers with."""
        host = self.server.host
        own = {
            "GIT_PROJECT_ROOT": str(host.folder), "PATH_INFO": path, "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command, "QUERY_STRING": query,
            "CONTENT_LENGTH": str(len(body)),
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": "" if host.old else self.headers.get("Git-Protocol", ""),
        }  # fmt: skip
        # Its status is not zero where it refuses what was asked for.
        done = subprocess.run(["git", "http-backend"], input=body, env={**os.environ, **own},
                              check=False, capture_output=True)  # fmt: skip
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        return dict(line.split(": ", 1) for line in head.decode().splitlines()), content

    def _write(self, path: str, headers: dict[str, str], content: bytes) -> None:
        host = self.server.host
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if host.stalls and path.startswith(f"/{host.stalls}/") and b"PACK" in content:
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
            host.stalled.set()
            host.over.wait(60)
        else:
            self.wfile.write(content)


class Server(ThreadingHTTPServer):
    """A server at a port of its own on the loopback interface."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, host: Host) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.host = host
        host.url = f"http://127.0.0.1:{self.server_port}"


@contextlib.contextmanager
def serving(host: Host) -> Iterator[Host]:
    """The server while it runs."""
    with Server(host) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield host
        finally:
            host.over.set()
            server.shutdown()


def hosted(place: Path) -> str:
    """Repositories as a host has them, bare, with submodules that are found beside them.

    Each recorded commit, and that of the top repository, which is returned, is on a branch, but no
    branch ends with it.
    """
    work = place / "work"
    work.mkdir(parents=True)
    root = upstream(work)
    paddle = root / "Paddle"
    for name in MODULES:
        key = f"submodule.third_party/{name}.url"
        git(paddle, "config", "-f", ".gitmodules", key, f"../{name}")
    # A name that is not the path.
    listed = (paddle / ".gitmodules").read_text()
    (paddle / ".gitmodules").write_text(listed.replace('"third_party/gflags"', '"flags"'))
    commit(paddle, "Where they are")
    git(root, "config", "-f", ".gitmodules", "submodule.Paddle.url", "../Paddle")
    recorded = commit(root, "Where it is")
    for folder in (root, paddle, *(paddle / "third_party" / name for name in MODULES)):
        git(folder, "checkout", "--quiet", "-B", "develop")
        (folder / "LATER").write_text("later\n")
        git(folder, "add", "LATER")
        git(folder, "commit", "--quiet", "-m", "Later")
        bare = place / "served" / folder.name
        git(place, "clone", "--quiet", "--bare", str(folder), str(bare))
        git(bare, "update-server-info")
    return recorded
