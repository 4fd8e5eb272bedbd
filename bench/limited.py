"""A server of packages and of a package index that gives each connection so many bytes a second."""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

from bench.cost import Command, run

HOST = "172.17.0.1"  # where a container finds its host, in Docker's default network
_BLOCK = 64 << 10


def wheels(lock: Path, folder: Path) -> Path:
    """A folder with the wheels of a lock for Python 3.10 on x86_64; kept between runs."""
    known = folder / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    if not known.is_dir():
        part = known.with_suffix(".part")
        pinned = ("--require-hashes", "--no-deps", "--only-binary", ":all:", "--python-version",
                  "3.10", "--implementation", "cp", "--abi", "cp310", "--abi", "abi3", "--abi",
                  "none")  # fmt: skip
        systems = [word for name in ("manylinux_2_28", "manylinux_2_17", "manylinux2014",
                                     "manylinux1", "linux")
                   for word in ("--platform", f"{name}_x86_64")]  # fmt: skip
        env = part / "env"
        run(Command([sys.executable, "-m", "venv", env]))
        (part / "lock.txt").write_text(for_this_python(lock.read_text(encoding="utf-8")))
        pip: list[str | Path] = [env / "bin" / "python", "-m", "pip", "download", "--quiet"]
        run(Command([*pip, "--dest", part / "wheels", *pinned, *systems, "-r", part / "lock.txt"]))
        (part / "wheels").rename(known)
        shutil.rmtree(part)
    return known


def for_this_python(lock: str) -> str:
    """The rows of a lock that Python 3.10 needs: pip asks the Python that it runs with."""
    from packaging.markers import Marker

    machine = {"python_full_version": "3.10.12", "python_version": "3.10", "sys_platform": "linux",
               "platform_machine": "x86_64", "platform_system": "Linux"}  # fmt: skip
    rows = []
    for row in re.split(r"(?m)^(?=[A-Za-z])", lock):
        first, _, hashes = row.partition("\n")
        pin, _, marker = first.rstrip(" \\").partition(" ; ")
        if pin and (not marker or Marker(marker).evaluate(machine)):
            rows.append(f"{pin} \\\n{hashes}")
    return "".join(rows)


class _Handler(SimpleHTTPRequestHandler):
    server: _Server

    def translate_path(self, path: str) -> str:
        """`/packages/` and `/wheels/` are folders; the index is made on the way."""
        kind, _, name = unquote(path).lstrip("/").partition("/")
        folder = self.server.folders.get(kind)
        return str(folder / name) if folder else "/nowhere"

    def do_GET(self) -> None:
        """The page of a project in the index, or a file."""
        if not self.path.startswith("/simple/"):
            return super().do_GET()
        project = self.path.strip("/").rpartition("/")[2]
        found = (
            file.name
            for file in self.server.folders["wheels"].iterdir()
            if file.name.split("-")[0].lower().replace("_", "-").replace(".", "-") == project
        )
        page = "".join(f'<a href="/wheels/{name}">{name}</a>\n' for name in found).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)
        return None

    def copyfile(self, source: object, outputfile: object) -> None:
        """A file at the limit."""
        began, sent = time.monotonic(), 0
        while block := source.read(_BLOCK):  # type: ignore[attr-defined]
            outputfile.write(block)  # type: ignore[attr-defined]
            sent += len(block)
            time.sleep(max(0.0, began + sent / self.server.rate - time.monotonic()))

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    folders: dict[str, Path]
    rate: float


@contextlib.contextmanager
def serving(packages: Path, wheels_of_lock: Path, rate: float) -> Iterator[str]:
    """The server's address."""
    with _Server((HOST, 0), _Handler) as server:
        server.folders, server.rate = {"packages": packages, "wheels": wheels_of_lock}, rate
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{HOST}:{server.server_port}"
        server.shutdown()
