"""An image with the tool's environment ready, so that a run in a container takes seconds."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from pathlib import Path

from filelock import FileLock

from tests.lab.boxes.image import prepared_image
from tests.lab.machine import LABEL, running
from tests.lab.needs import succeeds

# Where a container looks for it.
_LINK = "mkdir -p /opt/paddock/home/cache && ln -s /opt/paddock/cache/tool /opt/paddock/home/cache/"


def with_tool() -> str:
    """The tag of that image, made where this machine has none."""
    prepared = prepared_image()
    tag = f"{LABEL}:place-{hashlib.sha256((prepared + _LINK).encode()).hexdigest()[:12]}"
    with FileLock(Path(tempfile.gettempdir()) / f"{LABEL}-place.lock"):
        if not succeeds("docker", "image", "inspect", tag):
            with running(prepared) as machine:
                assert machine.run(_LINK).returncode == 0
                commit = ["docker", "commit", machine.name, tag]
                subprocess.run(commit, check=True, capture_output=True)
    return tag
