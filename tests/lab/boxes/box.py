"""Starts a box: a machine that looks to every probe like one of a vendor, healthy or broken."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.lab.boxes import pci
from tests.lab.boxes.image import VENDORS, vendor_image
from tests.lab.boxes.spec import Node, Spec
from tests.lab.boxes.variants import Variant, broken, variants
from tests.lab.machine import Machine, running

# A container made by Docker looks like one by this file, and by the name of its control group.
_HOST = ("--cgroupns", "private")
_START = """
set -e
rm -f /.dockerenv
mkdir -p /var/lib/lab
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
def start(vendor: str, name: str = "", checkout: Path | None = None) -> Iterator[Box]:
    """A box of `ascend910b` or `s60`; `name` is a variant's, "" for the healthy one.

    `checkout` is the folder of Paddock that it sees; None for none.
    """
    variant = next(one for one in variants() if one.id == name) if name else None
    spec = describe(vendor, variant)
    with tempfile.TemporaryDirectory(prefix="paddock-lab-") as scratch:
        options = [*_HOST, *_sysfs(Path(scratch), spec), *_checkout(checkout), *_access(spec)]
        with running(vendor_image(vendor), *options) as machine:
            script = _START + _state(spec) + "".join(map(_mknod, spec.nodes))
            _run(machine, script + (variant.shell if variant else ""))
            user = variant.user if variant else "root"
            yield Box(machine.name, user=user, prelude=spec.prelude)


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
    return [word for name, target in places.items()
            for word in ("--mount", f"type=bind,source={folder / name},target={target},readonly")]  # fmt: skip


def _checkout(folder: Path | None) -> list[str]:
    target = Machine("").checkout
    return ["--mount", f"type=bind,source={folder},target={target}"] if folder else []


def _access(spec: Spec) -> list[str]:
    """Let the box open its nodes: that there is no driver behind is another answer than a no."""
    majors = sorted({node.major for node in spec.nodes})
    return [f"--device-cgroup-rule=c {major}:* rwm" for major in majors]


def _state(spec: Spec) -> str:
    return f"cat >/var/lib/lab/state.json <<'END'\n{json.dumps(spec.state)}\nEND\n"


def _mknod(node: Node) -> str:
    """A node with its true numbers; what opens it is told that there is no such device."""
    made = f"mknod -m {node.mode} {node.path} c {node.major} {node.minor}\n"
    return f"{made}chown {node.owner} {node.path}\n"


def _run(machine: Machine, script: str) -> None:
    argv = ["docker", "exec", "-i", machine.name, "sh", "-s"]
    done = subprocess.run(argv, input=script, text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the box did not start: {done.stderr}")
