"""Fresh machines in containers: a Debian 12 with Python 3 and git, and nothing to compile with.

The base image is made here, from Debian's packages, and kept under a tag that names its recipe:
the first test that needs it waits about 25 seconds, later runs find it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from provision.paths import ROOT
from tests.conftest import package_cache
from tests.lab.needs import needs, succeeds

LABEL = "paddock-lab"
SUITE = "bookworm"
PACKAGES = "python3,git,ca-certificates"
# In memory, as thousands of small synced writes are what takes the time on a disk.
RECIPE = f"""
set -e
mount -t tmpfs -o size=3g none "$1"
TMPDIR=$1 mmdebstrap --quiet --variant=minbase --include={PACKAGES} {SUITE} "$1/base.tar"
docker import --message {LABEL} "$1/base.tar" "$2"
"""
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
INSIDE = "/run/lab/ca.crt"


def base_image(recipe: str = RECIPE) -> str:
    """The tag of a base image; made when this machine has none of this recipe.

    A recipe is a shell script that gets a folder to fill and the tag to give.
    """
    needs(succeeds("docker", "info"), "a Docker Engine (Debian: docker.io, then dockerd)")
    tag = f"{LABEL}:{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"
    with FileLock(Path(tempfile.gettempdir()) / f"{LABEL}.lock"):
        if not succeeds("docker", "image", "inspect", tag):
            needs(os.geteuid() == 0, "root, to make a base image")
            needs(shutil.which("mmdebstrap") is not None, "mmdebstrap, to make a base image")
            with tempfile.TemporaryDirectory() as folder:
                argv = ["unshare", "-m", "sh", "-c", recipe, "sh", folder, tag]
                subprocess.run(argv, check=True)
    return tag


@dataclass(frozen=True)
class Machine:
    """A running container. `checkout` is the project's folder in it."""

    name: str
    checkout: str = "/srv/检出 of paddock"

    def command(self, script: str, timeout: float, user: str, **variables: str) -> list[str]:
        """A `docker exec` of this script. The time limit holds inside, since an end of the
        client would leave the process in the container at work; it gives the exit status 124.
        """
        given = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
        limit = ["timeout", "--kill-after=30", str(timeout)]
        where = ["-u", user, "-w", self.checkout, self.name]
        return ["docker", "exec", *given, *where, *limit, "sh", "-c", script]

    def run(
        self, script: str, timeout: float = 60, user: str = "root", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a shell script in the checkout, to its end or for `timeout` seconds."""
        argv = self.command(script, timeout, user, **variables)
        return subprocess.run(argv, capture_output=True, text=True, check=False)

    def run_online(
        self, script: str, timeout: float, user: str = "root", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """As `run`, and once more a minute later where the network was away for a moment."""
        done = self.run(script, timeout, user, **variables)
        away = ("Temporary failure resolving", "name resolution", "dns error")
        if done.returncode != 0 and any(words in done.stderr for words in away):
            time.sleep(60)
            done = self.run(script, timeout, user, **variables)
        return done

    def clone(self) -> None:
        """Put there what a clone of this checkout would have."""
        inside = f"mkdir -p {shlex.quote(self.checkout)} && tar -x -C {shlex.quote(self.checkout)}"
        argv = ["docker", "exec", "-i", self.name, "sh", "-c", inside]
        subprocess.run(argv, input=packed_clone(), check=True)


def packed_clone() -> bytes:
    """What a clone of this checkout would have, as a tar archive."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout
    present = b"\0".join(n for n in names.split(b"\0") if (ROOT / os.fsdecode(n)).is_file())
    pack = ["tar", "-c", "--null", "-T", "-"]
    return subprocess.run(pack, cwd=ROOT, input=present, check=True, capture_output=True).stdout


def cache_mount() -> list[str]:
    """Let a machine use the package cache of this host."""
    cache = package_cache()
    cache.mkdir(parents=True, exist_ok=True)
    # Who is not root here could not use again what root writes there.
    kind = f"bind,source={cache}" if os.geteuid() == 0 else f"volume,source={LABEL}-cache"
    mount = f"--mount=type={kind},target=/var/cache/uv"
    return [mount, "--env=UV_CACHE_DIR=/var/cache/uv"]


@contextlib.contextmanager
def running(image: str, *options: str) -> Iterator[Machine]:
    """A machine of this image with the certificates of this host, and what `docker run` is told
    beside; gone after."""
    name = f"{LABEL}-{uuid.uuid4().hex[:12]}"
    try:
        yield launch(name, image, *options)
    finally:
        remove(name)


def launch(name: str, image: str, *options: str) -> Machine:
    """Start a machine that runs until it is removed."""
    variables = {"SSL_CERT_FILE": INSIDE, "LANG": "C.UTF-8"}
    proxies = [name for name in os.environ if name.lower().endswith("_proxy")]
    start = [
        "docker", "run", "--detach", "--init", "--label", LABEL, "--name", name,
        "--mount", f"type=bind,source={CERTIFICATES},target={INSIDE},readonly",
        *(word for key, value in variables.items() for word in ("--env", f"{key}={value}")),
        *(word for key in proxies for word in ("--env", key)),
        *options, image, "sleep", "infinity",
    ]  # fmt: skip
    subprocess.run(start, check=True, stdout=subprocess.DEVNULL)
    return Machine(name)


def remove(name: str) -> None:
    """Remove a machine, whatever it is doing."""
    subprocess.run(["docker", "rm", "--force", "--volumes", name], check=False, capture_output=True)


@contextlib.contextmanager
def fresh_machine(image: str = "") -> Iterator[Machine]:
    """A machine with a clone and the package cache of this host; "" is the bare Debian."""
    with running(image or base_image(), *cache_mount()) as machine:
        machine.clone()
        yield machine
