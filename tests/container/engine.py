"""A Docker Engine of the tests' own: in namespaces of its own, with its data in memory.

It can be killed and started anew, and its disk is small. It has no bridge, so its containers have
no network but the host's. It sees three cards of an S60.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.lab.needs import needs, succeeds

IMAGE = "busy:1"
_NUMBERS = itertools.count()
# Starts the engine, and for each line on standard input kills it and starts it anew.
_SERVE = """
set -e
mkdir "$1/data"
mount -t tmpfs -o "size=$2" none "$1/data"
mount -t tmpfs none /run
mkdir /run/dev
cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /run/dev/
for name in gcu0 gcu1 gcu2 gcuctl; do cp -a /dev/null "/run/dev/$name"; done
mount --bind /run/dev /dev
serve() {
    dockerd --data-root "$1/data/root" --exec-root /run/engine --pidfile /run/engine.pid \
        --host "unix://$1/docker.sock" --bridge "$3" --iptables=false --ip-forward=false \
        --containerd-namespace lab --containerd-plugins-namespace lab-plugins >> "$1/log" 2>&1 &
}
serve "$1"
while read -r _; do
    kill -KILL "$!"
    wait "$!" || :
    rm -f /run/engine.pid /run/engine/containerd/containerd.pid
    serve "$1"
done
"""


@dataclass(frozen=True)
class Engine:
    """A running engine."""

    folder: Path
    process: subprocess.Popen[str]

    @property
    def socket(self) -> Path:
        return self.folder / "docker.sock"

    @property
    def host(self) -> str:
        """What DOCKER_HOST has to be."""
        return f"unix://{self.socket}"

    def docker(self, *arguments: str, given: bytes = b"") -> str:
        """Run the client, which must succeed."""
        done = subprocess.run(["docker", "--host", self.host, *arguments], input=given,
                              capture_output=True, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().strip()

    def restart(self) -> None:
        """Kill the engine and start it anew; its containers end."""
        assert self.process.stdin is not None
        self.process.stdin.write("again\n")
        self.process.stdin.flush()

    def answers(self) -> None:
        """Wait until it does."""
        until = time.monotonic() + 30
        while not succeeds("docker", "--host", self.host, "info"):
            assert time.monotonic() < until, (self.folder / "log").read_text()[-2000:]
            time.sleep(0.1)


@contextlib.contextmanager
def _bridge() -> Iterator[str]:
    """A bridge of its own: an engine that has none takes that of the usual engine away."""
    number = os.getpid() * 10 + next(_NUMBERS)
    name = f"pdk{number}"
    ip = ["busybox", "ip"]
    subprocess.run([*ip, "link", "add", name, "type", "bridge"], check=True)
    try:
        subprocess.run([*ip, "addr", "add", f"10.253.{number % 250}.1/24", "dev", name], check=True)
        yield name
    finally:
        subprocess.run([*ip, "link", "del", name], check=True)


@contextlib.contextmanager
def engine(size: str = "300m") -> Iterator[Engine]:
    """An engine with so much space; it and all its containers are gone after."""
    needs(os.geteuid() == 0, "root, for an engine of its own")
    needs(shutil.which("dockerd") is not None, "dockerd (Debian: docker.io)")
    with tempfile.TemporaryDirectory(prefix="paddock-engine-") as folder, _bridge() as bridge:
        # It ends with these tests, whatever ends them.
        argv = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork",
                "--kill-child", "--mount-proc",
                "sh", "-c", _SERVE, "sh", folder, size, bridge]  # fmt: skip
        with subprocess.Popen(argv, stdin=subprocess.PIPE, text=True,
                              start_new_session=True) as process:  # fmt: skip
            try:
                running = Engine(Path(folder), process)
                running.answers()
                yield running
            finally:
                process.kill()


def busy_image(running: Engine) -> str:
    """An image of two megabytes, with a shell, and its name."""
    running.docker("import", "-", IMAGE, given=busy_archive())
    return IMAGE


def busy_archive() -> bytes:
    """Its files, as a tar archive."""
    program = shutil.which("busybox")
    needs(program is not None, "busybox (Debian: busybox-static)")
    with tempfile.TemporaryDirectory() as folder:
        programs = Path(folder) / "bin"
        programs.mkdir()
        shutil.copy2(str(program), programs / "busybox")
        for name in ("cat", "grep", "kill", "mkdir", "rm", "seq", "sh", "sleep", "tr"):
            (programs / name).symlink_to("busybox")
        pack = ["tar", "-c", "-C", folder, "."]
        return subprocess.run(pack, check=True, capture_output=True).stdout
