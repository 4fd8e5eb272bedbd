"""A registry of images on loopback, which every engine takes without TLS."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.lab.needs import needs

_ACCEPT = "application/vnd.docker.distribution.manifest.v2+json"


@dataclass(frozen=True)
class Registry:
    """A running registry with its files in `folder`."""

    address: str
    folder: Path

    def digest(self, name: str, tag: str) -> str:
        """What a tag stands for."""
        return self._ask(f"{name}/manifests/{tag}")[0]

    def forget(self, name: str, digest: str) -> None:
        """Remove an image, as a vendor does that tidies up.

        Its configuration goes first: engines keep manifests for a while, and need no registry then.
        """
        content = json.loads(self._ask(f"{name}/manifests/{digest}")[1])
        self._ask(f"{name}/blobs/{content['config']['digest']}", "DELETE")
        self._ask(f"{name}/manifests/{digest}", "DELETE")

    def _ask(self, path: str, method: str = "GET") -> tuple[str, bytes]:
        """The digest that an answer names, and the answer."""
        asked = urllib.request.Request(
            f"http://{self.address}/v2/{path}", headers={"Accept": _ACCEPT}, method=method
        )
        with urllib.request.urlopen(asked, timeout=10) as answer:  # noqa: S310
            return str(answer.headers["Docker-Content-Digest"]), answer.read()


@contextlib.contextmanager
def registry() -> Iterator[Registry]:
    """A registry without any image."""
    with tempfile.TemporaryDirectory(prefix="paddock-registry-") as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        free.close()
        with serving(Path(folder), address):
            _wait(address)
            yield Registry(address, Path(folder))


@contextlib.contextmanager
def serving(folder: Path, address: str) -> Iterator[None]:
    """A registry of the images in a folder, which is started."""
    program = shutil.which("docker-registry")
    needs(program is not None, "docker-registry (Debian: docker-registry)")
    settings = {
        "version": 0.1, "log": {"level": "error"}, "http": {"addr": address},
        "storage": {"filesystem": {"rootdirectory": str(folder)}, "delete": {"enabled": True}},
    }  # fmt: skip
    file = folder / "settings.yml"
    file.write_text(json.dumps(settings))  # which is YAML, too
    with subprocess.Popen([str(program), "serve", str(file)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:  # fmt: skip
        try:
            yield
        finally:
            process.kill()


def _wait(address: str) -> None:
    until = time.monotonic() + 20
    while True:
        try:
            urllib.request.urlopen(f"http://{address}/v2/", timeout=5).close()
            return
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.05)
