"""A bare vendor machine: the cards are on the bus, and nothing of the vendor is installed."""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock

from tests.lab.boxes import image, pci
from tests.lab.boxes.box import HOST, Recipe, access, checkout_mount, mknod, run_in, state
from tests.lab.boxes.spec import Spec
from tests.lab.machine import LABEL, Machine, cache_mount, running
from tests.lab.needs import succeeds

DEPS = "/srv/deps"
NEEDS_REBOOT = "/var/lib/lab/needs-reboot"  # with it, what is installed waits for a reboot
_TOOLS = """
set -e
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install g++ net-tools
rm -rf /var/lib/apt/lists/*
"""
# No kernel here takes a module of the lab: this one puts it into the machine's own /sys/module.
_START = r"""
rm -f /.dockerenv
mkdir -p /var/lib/lab
headers=/usr/src/linux-headers-$(uname -r)
mkdir -p "$headers" "/lib/modules/$(uname -r)"
echo '# the lab builds no modules' > "$headers/Makefile"
ln -sfn "$headers" "/lib/modules/$(uname -r)/build"
cat > /usr/local/sbin/modprobe <<'END'
#!/bin/sh
file=$(find "/lib/modules/$(uname -r)" -name "$1.ko" 2>/dev/null)
[ -n "$file" ] && [ ! -e /var/lib/lab/needs-reboot ] || {
    echo "modprobe: FATAL: Module $1 not found in directory /lib/modules/$(uname -r)" >&2
    exit 1
}
mkdir -p "/sys/module/$1"
version=$(modinfo -F version "$file")
[ -z "$version" ] || echo "$version" > "/sys/module/$1/version"
/usr/local/sbin/take-cards
END
chmod 0755 /usr/local/sbin/modprobe
"""
# The driver takes the cards: it is linked to them, and they get their nodes.
_TAKE = """cat > /usr/local/sbin/take-cards <<'END'
#!/bin/sh
[ ! -e {first} ] || exit 0
{links}{nodes}END
chmod 0755 /usr/local/sbin/take-cards
"""
# What was loaded before is loaded again, if it is still installed.
_BOOT = """
rm -f /.dockerenv /var/lib/lab/needs-reboot
for name in $(cat /var/lib/lab/at-boot) $(ls /sys/module); do
    modprobe "$name" || rm -rf "/sys/module/$name"
done
rm -f /var/lib/lab/at-boot
"""


@dataclass(frozen=True)
class Bare(Machine):
    """A running bare machine. `deps` is the folder of packages, as this side sees it."""

    deps: Path = Path()

    def provision(self, arguments: str, timeout: float = 180) -> subprocess.CompletedProcess[str]:
        """Run `paddock provision` there."""
        return self.run(f"./paddock provision {arguments}", timeout)

    def calls(self) -> list[str]:
        """Which installers were started, in their order: part, version, flags."""
        return self.run("cat /var/lib/lab/calls").stdout.splitlines()

    def fault(self, part: str, word: str) -> None:
        """Let the installer of a part fail, hang, or the like; "" lets it be well again."""
        self.run(f"echo '{word}' > /var/lib/lab/fault-{part}")

    def awaits_reboot(self) -> bool:
        """Whether something was installed that takes effect when the machine starts."""
        return self.run("test -e /var/lib/lab/at-boot").returncode == 0

    def reboot(self) -> None:
        """Start the machine anew: what is loaded at boot is loaded."""
        subprocess.run(["docker", "restart", "-t", "1", self.name], check=True, capture_output=True)
        until = time.monotonic() + 30
        while self.run("true").returncode:  # for a moment it says that it is stopped
            assert time.monotonic() < until
            time.sleep(0.2)
        self.run(_BOOT)


def bare_image() -> str:
    """The tag of a machine with a compiler, as a vendor's driver wants one."""
    base = image.prepared_image()
    tag = f"{LABEL}:bare-{hashlib.sha256((base + _TOOLS).encode()).hexdigest()[:12]}"
    with FileLock(Path(tempfile.gettempdir()) / f"{LABEL}-bare.lock"):
        if not succeeds("docker", "image", "inspect", tag):
            with running(base) as machine:
                done = machine.run(_TOOLS, timeout=600)
                if done.returncode:
                    raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
                commit = ["docker", "commit", machine.name, tag]
                subprocess.run(commit, check=True, capture_output=True)
    return tag


@contextlib.contextmanager
def bare(vendor: str, checkout: Path) -> Iterator[Bare]:
    """A bare machine of `ascend910b` or `s60` that sees a checkout and an empty deps folder."""
    with tempfile.TemporaryDirectory(prefix="paddock-lab-") as scratch:
        made = recipe(vendor, Path(scratch), checkout_mount(checkout))
        with running(made.image, *made.options) as machine:
            run_in(machine, made.script)
            yield Bare(machine.name, deps=Path(scratch, "deps"))


def recipe(vendor: str, folder: Path, more: Iterable[str]) -> Recipe:
    """Such a machine; its parts of sysfs and the folder `deps` are made in `folder`."""
    folder.chmod(0o755)
    spec = image.VENDORS[vendor].spec()
    pci.write_bus(folder / "pci", [replace(one, driver=None) for one in spec.functions])
    places = {"pci": "/sys/bus/pci", "module": "/sys/module", "deps": DEPS}
    for name in places:
        (folder / name).mkdir(exist_ok=True)
    mounts = [f"--mount=type=bind,source={folder / name},target={there}"
              for name, there in places.items()]  # fmt: skip
    options = [*HOST, *mounts, *access(spec), *more, *cache_mount()]
    return Recipe(bare_image(), options, _START + state(spec) + _take(spec))


def _take(spec: Spec) -> str:
    """A script that writes what happens to the cards once their driver is loaded."""
    bus = "/sys/bus/pci"
    links = "".join(
        f"mkdir -p {bus}/drivers/{one.driver}\n"
        f"ln -sfn ../../drivers/{one.driver} {bus}/devices/{one.slot}/driver\n"
        for one in spec.functions if one.class_.startswith("12")
    )  # fmt: skip
    nodes = "".join(map(mknod, spec.nodes))
    return _TAKE.format(first=spec.nodes[0].path, links=links, nodes=nodes)
