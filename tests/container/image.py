"""Images with the tool's environment ready, so that a run in a container takes seconds."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path

from filelock import FileLock

from tests.lab.boxes.image import prepared_image, with_engine
from tests.lab.machine import LABEL, Machine, base_image, fresh_machine, running
from tests.lab.needs import succeeds

# Where a container looks for it.
_LINK = "mkdir -p /opt/paddock/home/cache && ln -s /opt/paddock/cache/tool /opt/paddock/home/cache/"
# A build removes it between its stages, and copies what is in its place. So it lies elsewhere, and
# the first Python that is asked for puts the link there: to install it would take 20 seconds.
_BASE = """
set -e
rm -r /opt/paddock/home
mv /opt/paddock /usr/local/lib/lab-tool
cat > /usr/local/bin/python3 <<'END'
#!/bin/sh
mkdir -p /opt/paddock/home/cache
ln -sfn /usr/local/lib/lab-tool/cache/tool /opt/paddock/home/cache/tool
exec /usr/bin/python3 "$@"
END
chmod 0755 /usr/local/bin/python3
"""
_READY = """
set -e
PADDOCK_HOME=/opt/paddock ./paddock --version
find . -mindepth 1 -delete
"""


def with_tool() -> str:
    """The tag of an Ubuntu with it, made where this machine has none."""
    prepared = prepared_image()
    return _changed("place", prepared, _LINK, running(prepared))


def for_builds() -> str:
    """The tag of an Ubuntu from which an image can be built without an index."""
    base = with_tool()
    return _changed("base", base, _BASE, running(base))


def with_podman() -> str:
    """The tag of a Debian with Podman and Buildah."""
    return with_engine("podman", base_image(), "podman catatonit buildah")


def with_builders() -> str:
    """The tag of the same with the tool's environment."""
    base = with_podman()
    return _changed("builders", base, _READY, fresh_machine(base))


def _changed(kind: str, base: str, script: str, started: AbstractContextManager[Machine]) -> str:
    """The tag of an image that a script, run on such a machine, has changed."""
    tag = f"{LABEL}:{kind}-{hashlib.sha256((base + script).encode()).hexdigest()[:12]}"
    with FileLock(Path(tempfile.gettempdir()) / f"{LABEL}-{kind}.lock"):
        if not succeeds("docker", "image", "inspect", tag):
            with started as machine:
                done = machine.run(script, timeout=600)
                assert done.returncode == 0, done.stdout + done.stderr
                commit = ["docker", "commit", machine.name, tag]
                subprocess.run(commit, check=True, capture_output=True)
    return tag
