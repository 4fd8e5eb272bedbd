"""A bare vendor machine with a Docker Engine, and a registry that it reaches on its loopback.

The image to start from is a bare Ubuntu 22.04 with the tool's environment ready; the registry's
files are filled from without, by this machine's engine.
"""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.container.image import with_tool
from tests.container.registry import registry, serving
from tests.lab.boxes.box import NESTED, SERVE, run_in
from tests.lab.boxes.image import with_engine
from tests.lab.machine import running
from tests.lab.vendor import bare
from tests.lab.vendor.bare import Bare

BASE = "vendor/base:1"
ADDRESS = "127.0.0.1:5000"
# A container sees the kernel's sysfs, and asks the cards: here what the machine has of both.
_RUNTIME = """#!/usr/bin/python3
import json, os, sys
if "create" in sys.argv:
    path = sys.argv[sys.argv.index("--bundle") + 1] + "/config.json"
    with open(path) as file:
        spec = json.load(file)
    spec["mounts"] += [
        {"destination": part, "source": part, "type": "bind", "options": ["rbind", "ro"]}
        for part in ("/sys/bus/pci", "/sys/module", "/var/lib/lab")
    ]
    with open(path, "w") as file:
        json.dump(spec, file)
os.execvp("runc", ["runc", *sys.argv[1:]])
"""
_SETUP = f"""
cat >/usr/local/bin/lab-runc <<'END'
{_RUNTIME}END
chmod 0755 /usr/local/bin/lab-runc
mkdir -p /etc/docker
cat >/etc/docker/daemon.json <<'END'
{{"default-runtime": "lab", "runtimes": {{"lab": {{"path": "/usr/local/bin/lab-runc"}}}}}}
END
"""


@dataclass(frozen=True)
class Engined(Bare):
    """A running bare machine; its engine can be asked as `docker` on it."""

    def docker(self, *words: str) -> str:
        """Run its client, which must succeed."""
        argv = ["docker", "exec", self.name, "docker", *words]
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def serve(self) -> None:
        """Start its engine."""
        run_in(self, SERVE)


@contextlib.contextmanager
def engined(vendor: str, images: Path) -> Iterator[Engined]:
    """A bare machine of a vendor, with an engine and the registry of the images in a folder."""
    with tempfile.TemporaryDirectory(prefix="paddock-lab-") as scratch:
        made = bare.recipe(vendor, Path(scratch), ())
        image = with_engine("bare-engine", made.image)
        with running(image, *made.options, *NESTED) as machine:
            run_in(machine, made.script + _SETUP)
            machine.clone()
            box = Engined(machine.name, deps=Path(scratch, "deps"))
            box.serve()
            with serving(images, ADDRESS, *_network_of(box)):
                _wait(box)
                yield box


@contextlib.contextmanager
def filled() -> Iterator[Path]:
    """The files of a registry with the image to start from."""
    with registry() as made:
        name = f"{made.address}/{BASE}"
        for words in (["tag", with_tool(), name], ["push", "--quiet", name], ["rmi", name]):
            subprocess.run(["docker", *words], check=True, capture_output=True)
        yield made.folder


def _network_of(box: Bare) -> list[str]:
    """What a command is preceded by, to have the network of a machine."""
    asked = ["docker", "inspect", "--format", "{{.State.Pid}}", box.name]
    process = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    return ["nsenter", "--net", "--target", process]


def _wait(box: Bare) -> None:
    ask = f"from urllib.request import urlopen as ask; ask('http://{ADDRESS}/v2/')"
    until = time.monotonic() + 20
    while box.run(f'python3 -c "{ask}" 2>/dev/null').returncode:
        assert time.monotonic() < until
        time.sleep(0.1)
