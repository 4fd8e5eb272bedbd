"""A bare vendor machine with a Docker Engine, and on its loopback a registry with one image.

That image is what containers of the machine start from: a bare Ubuntu 22.04 with the tool's
environment ready.
"""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.lab.boxes.box import NESTED, SERVE, Recipe, run_in
from tests.lab.boxes.image import commit, tagged, with_engine, with_tool
from tests.lab.machine import Machine, running
from tests.lab.vendor import bare
from tests.lab.vendor.bare import Bare

BASE = "127.0.0.1:5000/vendor/base:1"
_SETTINGS = """
version: 0.1
log: {level: error}
http: {addr: 127.0.0.1:5000}
storage: {filesystem: {rootdirectory: /var/lib/lab-registry}}
"""
# What an earlier start has left is not taken for a running engine.
_SERVE = f"""
rm -f /run/docker.pid /run/docker/containerd/containerd.pid
cat >/etc/lab-registry.yml <<'END'
{_SETTINGS}END
setsid docker-registry serve /etc/lab-registry.yml >/var/log/registry.log 2>&1 </dev/null &
ask='from urllib.request import urlopen as ask; ask("http://127.0.0.1:5000/v2/")'
for _ in $(seq 100); do python3 -c "$ask" 2>/dev/null && break; sleep 0.1; done
python3 -c "$ask" || {{ cat /var/log/registry.log >&2; exit 1; }}
{SERVE}"""
# A container sees the kernel's sysfs, and asks the cards: here what the machine has of both. A
# privileged one gets each node and each right that the machine has; it cannot give more.
_RUNTIME = """#!/usr/bin/python3
import json, os, sys
def limit(process):
    for names in process.get("capabilities", {}).values():
        names[:] = [name for name in names if name != "CAP_SYS_RESOURCE"]
def container(spec):
    spec["mounts"] += [
        {"destination": part, "source": part, "type": "bind", "options": ["rbind", "ro"]}
        for part in ("/sys/bus/pci", "/sys/module", "/var/lib/lab")
    ]
    limit(spec["process"])
    rules, every = spec["linux"]["resources"]["devices"], {"allow": True, "access": "rwm"}
    if every in rules:
        rules[:] = [{"allow": False, "access": "rwm"}] + [
            {**every, "type": one["type"], "major": one["major"], "minor": one["minor"]}
            for one in spec["linux"]["devices"]
        ]
def change(path, function):
    with open(path) as file:
        value = json.load(file)
    function(value)
    with open(path, "w") as file:
        json.dump(value, file)
words = sys.argv[1:]
if "create" in words:
    change(words[words.index("--bundle") + 1] + "/config.json", container)
elif "exec" in words:
    change(words[words.index("--process") + 1], limit)
os.execvp("runc", ["runc", *words])
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
        """Start its engine and its registry."""
        run_in(self, _SERVE)

    def reboot(self) -> None:
        """Start the machine anew, with both."""
        super().reboot()
        self.serve()


def recipe(vendor: str, folder: Path, more: Iterable[str]) -> Recipe:
    """Such a machine; its parts of sysfs and the folder `deps` are made in `folder`."""
    made = bare.recipe(vendor, folder, more)
    return replace(made, image=_image(made.image), options=[*made.options, *NESTED],
                   script=made.script + _SETUP + _SERVE)  # fmt: skip


@contextlib.contextmanager
def engined(vendor: str) -> Iterator[Engined]:
    """Such a machine of `ascend910b` or `s60` with a clone of this checkout."""
    with tempfile.TemporaryDirectory(prefix="paddock-lab-") as scratch:
        made = recipe(vendor, Path(scratch), ())
        with running(made.image, *made.options) as machine:
            run_in(machine, made.script)
            machine.clone()
            yield Engined(machine.name, deps=Path(scratch, "deps"))


def _image(base: str) -> str:
    """The tag of the machine of an image with engine, registry, and what is in that."""
    engine = with_engine("engined", base, "docker.io docker-registry")
    image = with_tool()
    return tagged("registry", [engine, image, BASE, _SERVE], lambda tag: _fill(engine, image, tag))


def _fill(engine: str, image: str, tag: str) -> None:
    """Bring an image of this machine's engine into the registry of one that is kept."""
    with running(engine, *NESTED) as machine:
        run_in(machine, _SERVE)
        _hand_over(image, machine)
        run_in(machine, f"set -e\ndocker tag {image} {BASE}\ndocker push --quiet {BASE}")
        commit(machine, tag)


def _hand_over(image: str, machine: Machine) -> None:
    """Load an image into a machine's engine."""
    load = ["docker", "exec", "-i", machine.name, "docker", "load", "--quiet"]
    with subprocess.Popen(["docker", "save", image], stdout=subprocess.PIPE) as save:
        subprocess.run(load, stdin=save.stdout, check=True, capture_output=True)
    if save.returncode:
        raise RuntimeError(f"docker save {image} has ended with {save.returncode}")
