"""Starts a box: a machine that looks to every probe like one of a vendor, healthy or broken."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.lab.boxes import pci
from tests.lab.boxes.image import VENDORS, vendor_image
from tests.lab.boxes.spec import Node, Spec
from tests.lab.boxes.variants import Variant, broken, variants
from tests.lab.machine import Machine, running

# As a host has it: a control group without a name that tells, and room in /dev/shm.
HOST = ("--cgroupns", "private", "--shm-size", "8g")
# A container made by Docker looks like one by this file.
_START = "set -e\nrm -f /.dockerenv\n"
# An engine in the box needs nearly all; the one capability is not given to this machine either.
NESTED = (
    "--cap-add=ALL", "--cap-drop=SYS_RESOURCE", "--volume=/var/lib/docker",
    *(f"--security-opt={name}=unconfined" for name in ("seccomp", "apparmor", "systempaths")),
)  # fmt: skip
SERVE = """
for folder in /sys/fs/cgroup/*; do mount -o remount,bind,rw $folder; done
setsid dockerd >/var/log/dockerd.log 2>&1 </dev/null &
for _ in $(seq 100); do docker info >/dev/null 2>&1 && exit 0; sleep 0.1; done
cat /var/log/dockerd.log >&2
exit 1
"""


@dataclass(frozen=True)
class Box(Machine):
    """A running box. `prelude` is what its user's shell has run before the tool."""

    user: str = "root"
    prelude: str = ":"

    def shell(self, script: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a script in the checkout as the box's user does in a shell of its own."""
        return self.run(f"{self.prelude}\n{script}", timeout, self.user)


@contextlib.contextmanager
def start(
    vendor: str, name: str = "", checkout: Path | None = None, engine: bool = False
) -> Iterator[Box]:
    """A box of `ascend910b` or `s60`; `name` is a variant's, "" for the healthy one.

    `checkout` is the folder of Paddock that it sees, None for none; `engine` puts a Docker Engine
    into it.
    """
    with tempfile.TemporaryDirectory(prefix="paddock-lab-") as scratch:
        made = recipe(vendor, name, Path(scratch), checkout_mount(checkout), engine)
        with running(made.image, *made.options) as machine:
            run_in(machine, made.script)
            yield Box(machine.name, user=made.user, prelude=made.prelude)


@dataclass(frozen=True)
class Recipe:
    """How a machine is made: its image, what `docker run` is told, and the script that root runs in
    it first; `user` and `prelude` as of a box."""

    image: str
    options: list[str]
    script: str
    user: str = "root"
    prelude: str = ":"


def recipe(
    vendor: str, name: str, folder: Path, mounts: Iterable[str] = (), engine: bool = False
) -> Recipe:
    """A box by the name that `start` takes; its parts of sysfs are written into `folder`."""
    variant = next(one for one in variants() if one.id == name) if name else None
    engine = engine or (variant is not None and variant.engine)
    spec = describe(vendor, variant)
    options = [*HOST, *_sysfs(folder, spec), *mounts, *access(spec)]
    options += NESTED if engine else ()
    script = _START + state(spec) + "".join(map(mknod, spec.nodes))
    script += (variant.shell if variant else "") + SERVE * engine
    user = variant.user if variant else "root"
    return Recipe(vendor_image(vendor, engine), options, script, user, spec.prelude)


def describe(vendor: str, variant: Variant | None) -> Spec:
    """What a box is made of."""
    healthy: Spec = VENDORS[vendor].spec()
    if variant is None:
        return healthy
    return broken(healthy, variant, VENDORS[variant.also].spec() if variant.also else None)


def _sysfs(folder: Path, spec: Spec) -> list[str]:
    """Mounts of the parts of sysfs that the box has of its own."""
    folder.chmod(0o755)
    pci.write_bus(folder / "pci", spec.functions)
    pci.write_modules(folder / "module", spec.modules)
    places = {"pci": "/sys/bus/pci", "module": "/sys/module"}
    return [f"--mount=type=bind,source={folder / name},target={target},readonly"
            for name, target in places.items()]  # fmt: skip


def checkout_mount(folder: Path | None, *flags: str) -> list[str]:
    """Let a machine see this folder as the project's; with `readonly` it compiles elsewhere."""
    if folder is None:
        return []
    mount = [f"type=bind,source={folder}", f"target={Machine('').checkout}", *flags]
    compiled = ["--env=PYTHONPYCACHEPREFIX=/var/cache/compiled"] if flags else []
    return [f"--mount={','.join(mount)}", *compiled]


def access(spec: Spec) -> list[str]:
    """Let the box open its nodes: that there is no driver behind is another answer than a no."""
    majors = sorted({node.major for node in spec.nodes})
    return [f"--device-cgroup-rule=c {major}:* rwm" for major in majors]


def state(spec: Spec) -> str:
    """A script that writes what the vendor's tool knows."""
    return f"cat >/var/lib/lab/state.json <<'END'\n{json.dumps(spec.state)}\nEND\n"


def mknod(node: Node) -> str:
    """A node with its true numbers; what opens it is told that there is no such device."""
    made = f"mknod -m {node.mode} {node.path} c {node.major} {node.minor}\n"
    return f"{made}chown {node.owner} {node.path}\n"


def run_in(machine: Machine, script: str) -> None:
    """Run a script there as root. Raises RuntimeError where it fails."""
    argv = ["docker", "exec", "-i", machine.name, "sh", "-s"]
    done = subprocess.run(argv, input=script, text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the machine did not start: {done.stderr}")
