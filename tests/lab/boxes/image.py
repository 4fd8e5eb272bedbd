"""The images of the boxes: a machine with the tool ready to run, and on it a vendor's software.

Each is made once and kept under a tag that names all that went into it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from filelock import FileLock

from provision.paths import ROOT
from tests.lab.boxes import ascend, enflame
from tests.lab.machine import LABEL, Machine, base_image, fresh_machine, running
from tests.lab.needs import needs, succeeds

VENDORS: dict[str, ModuleType] = {"ascend910b": ascend, "s60": enflame}
_TOOL = ("paddock", "requirements.lock", "provision/bootstrap.py")
# The vendors support Ubuntu 22.04, not Debian 12. Its keys come from its own archive, so the file
# that they are in is pinned.
_ARCHIVE = "http://archive.ubuntu.com/ubuntu"
_KEYRING = f"{_ARCHIVE}/pool/main/u/ubuntu-keyring/ubuntu-keyring_2021.03.26_all.deb"
_KEYRING_SHA256 = "0d0e7ed6b112f5d03eabf3c7eb01ebdacf9c57714b279e90495cfc58c8c4520f"
_PACKAGES = "apt,python3,python3-venv,git,ca-certificates,pciutils,kmod"
UBUNTU = f"""
set -e
mount -t tmpfs -o size=3g none "$1"
cd "$1"
/usr/lib/apt/apt-helper download-file {_KEYRING} keys.deb \\
    SHA256:{_KEYRING_SHA256} >/dev/null
dpkg-deb --extract keys.deb keys
TMPDIR=$1 mmdebstrap --quiet --variant=minbase --include={_PACKAGES} \\
    --keyring="$1/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg" \\
    --components=main,universe jammy base.tar {_ARCHIVE}
docker import --message {LABEL} base.tar "$2" >/dev/null
"""
# The tool's environment is for all users of the box.
_PREPARE = """
set -e
PADDOCK_HOME=/opt/paddock ./paddock --version
chmod -R a+rX /opt/paddock
for home in /root /etc/skel; do
    mkdir -p $home/.cache/paddock
    ln -s /opt/paddock/cache/tool $home/.cache/paddock/tool
done
find . -mindepth 1 -delete
"""
# Where a container looks for it.
_LINK = """
set -e
mkdir -p /opt/paddock/home/cache
ln -s /opt/paddock/cache/tool /opt/paddock/home/cache/
"""
_ENGINE = """
set -e
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install {packages}
rm -rf /var/lib/apt/lists/*
"""
_SOURCES = ("ascend*.py", "enflame.py", "environment.py", "image.py", "objects.py", "programs/*.py")


def vendor_image(vendor: str, engine: bool = False) -> str:
    """The tag of a vendor's healthy box, with a Docker Engine where it is asked for."""
    needs(shutil.which("gcc") is not None, "gcc, for the vendors' libraries")
    needs(shutil.which("dpkg-deb") is not None, "dpkg-deb, for the vendors' packages")
    base = with_engine("engine", prepared_image()) if engine else prepared_image()
    folder = Path(__file__).parent
    sources = [file for name in _SOURCES for file in sorted(folder.glob(name))]
    parts = [base, os.uname().release, *map(_text, sources)]
    kind = f"{vendor}-engine" if engine else vendor
    return tagged(kind, parts, lambda tag: _make(vendor, base, tag))


def with_engine(kind: str, base: str, packages: str = "docker.io") -> str:
    """The machine of an image with a container engine."""
    return changed(kind, base, _ENGINE.format(packages=packages))


def prepared_image() -> str:
    """A machine with what `paddock` needs to start at once."""
    return tagged("box", _prepared_parts(), _prepare)


def is_prepared() -> bool:
    """Whether this machine has that image; from it the others are made."""
    return succeeds("docker", "image", "inspect", _tag("box", _prepared_parts()))


def _prepared_parts() -> list[str]:
    return [UBUNTU, _PREPARE, *(_text(ROOT / name) for name in _TOOL)]


def with_tool() -> str:
    """The same with the tool's environment where a container looks for it, so that a run in there
    takes seconds."""
    return changed("tool", prepared_image(), _LINK)


def changed(kind: str, base: str, script: str) -> str:
    """The tag of an image that a script, run as root on the machine of another, has changed."""
    return tagged(kind, [base, script], lambda tag: _add(base, script, tag))


def _tag(kind: str, parts: Iterable[str]) -> str:
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
    return f"{LABEL}:{kind}-{digest}"


def tagged(kind: str, parts: Iterable[str], make: Callable[[str], None]) -> str:
    """The tag for these parts; made where this machine has none."""
    tag = _tag(kind, parts)
    with FileLock(Path(tempfile.gettempdir()) / f"{LABEL}-{kind}.lock"):
        if not succeeds("docker", "image", "inspect", tag):
            make(tag)
            _drop_others(kind, tag)
    return tag


def _drop_others(kind: str, tag: str) -> None:
    """Remove what earlier sources made; an image that something still needs stays."""
    listed = ["docker", "image", "ls", "--format", "{{.Repository}}:{{.Tag}}", LABEL]
    found = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()
    for other in found:
        if other.rpartition("-")[0] == f"{LABEL}:{kind}" and other != tag:
            subprocess.run(["docker", "image", "rm", other], check=False, capture_output=True)


def _prepare(tag: str) -> None:
    # No package can bring another network: where it does not lead there, this stays untried.
    try:
        urllib.request.urlopen(f"{_ARCHIVE}/dists/jammy/Release", timeout=30).close()  # noqa: S310
    except OSError:
        pytest.skip("the archive of Ubuntu 22.04 cannot be reached")
    with fresh_machine(base_image(UBUNTU)) as machine:
        succeed(machine.run(_PREPARE, timeout=600))
        commit(machine, tag)


def _make(vendor: str, base: str, tag: str) -> None:
    module = VENDORS[vendor]
    with running(base) as machine, tempfile.TemporaryDirectory() as scratch:
        module.write_files(Path(scratch))
        pack = ["tar", "-c", "--owner=0", "--group=0", "-C", scratch, "."]
        archive = subprocess.run(pack, check=True, capture_output=True).stdout
        unpack = ["docker", "exec", "-i", machine.name, "tar", "-x", "--no-overwrite-dir",
                  "--keep-directory-symlink", "-C", "/"]  # fmt: skip
        subprocess.run(unpack, input=archive, check=True)
        succeed(machine.run(module.SETUP, timeout=120))
        commit(machine, tag)


def _add(image: str, script: str, tag: str) -> None:
    with running(image) as machine:
        succeed(replace(machine, checkout="/").run(script, timeout=600))  # it may have none yet
        commit(machine, tag)


def commit(machine: Machine, tag: str) -> None:
    """Keep a machine, as it is now, as an image."""
    subprocess.run(["docker", "commit", machine.name, tag], check=True, capture_output=True)


def succeed(done: subprocess.CompletedProcess[str]) -> None:
    """Raises RuntimeError, with the last that it said, for a command that has failed."""
    if done.returncode:
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
