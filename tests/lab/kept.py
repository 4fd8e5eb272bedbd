"""Machines that `paddock lab` keeps for a person; their containers are found by a label."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from provision.errors import unknown_name
from provision.paths import ROOT, cache_dir
from tests.lab.boxes import box
from tests.lab.boxes.image import VENDORS
from tests.lab.boxes.variants import variants
from tests.lab.machine import LABEL, Machine, launch, remove
from tests.lab.vendor import bare, deps, engined
from tests.lab.vendor.bare import Bare

BARE, ENGINE, HEALTHY, REHEARSAL = "bare", "engine", "healthy", "rehearsal"
# Nothing of the vendor is installed on these.
BARES = {BARE: bare.recipe, ENGINE: engined.recipe}


@dataclass(frozen=True)
class Kept:
    """A machine: of which target, what is the matter with it, and its container."""

    target: str
    variant: str
    name: str

    @property
    def folder(self) -> Path:
        """What it sees of this machine: its parts of sysfs, and the folder of packages."""
        return cache_dir() / "lab" / self.name

    @property
    def bare(self) -> Bare:
        """The machine, where it is a bare one."""
        return self.running(self.name, self.folder)

    def running(self, name: str, folder: Path) -> Bare:
        """A bare machine of this kind in that container, which sees that folder."""
        kind = engined.Engined if self.variant == ENGINE else Bare
        return kind(name, deps=folder / "deps")


def _home() -> str:
    """Machines of another PADDOCK_HOME are not ours."""
    return hashlib.sha256(os.fsencode(cache_dir())).hexdigest()[:6]


def label(target: str, variant: str) -> str:
    """What `docker run` is told so that the machine is found again."""
    return f"--label={LABEL}.{_home()}={target}/{variant}"


def choices(target: str) -> list[str]:
    """The variants that a target's machine has. Raises PaddockError `no-machine`."""
    if target not in VENDORS:
        raise unknown_name("no-machine", target, list(VENDORS))
    return [*BARES, HEALTHY, *(one.id for one in variants() if one.box == target)]


def checked(target: str, variant: str) -> Kept:
    """The machine of that name. Raises PaddockError `no-machine`, `unknown-variant`."""
    if variant not in (known := choices(target)):
        raise unknown_name("unknown-variant", variant, known)
    return Kept(target, variant, f"{LABEL}-{target}-{variant}-{_home()}")


def machines() -> list[Kept]:
    """Those that there are."""
    mark = f"{LABEL}.{_home()}"
    argv = ["docker", "ps", "--all", "--filter", f"label={mark}",
            "--format", f'{{{{.Label "{mark}"}}}}/{{{{.Names}}}}']  # fmt: skip
    found = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split()
    return [Kept(*one.split("/")) for one in sorted(found)]


def wake(one: Kept) -> None:
    """Start a bare machine that has stopped, as all do when this machine is rebooted."""
    asked = ["docker", "inspect", "--format", "{{.State.Running}}", one.name]
    said = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    if one.variant in BARES and said.strip() == "false":
        one.bare.reboot()


def up(one: Kept) -> bool:
    """Start a machine; False where it is there already."""
    one.folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(one.folder.with_suffix(".lock")):
        if one in machines():
            wake(one)
            return False
        shutil.rmtree(one.folder, ignore_errors=True)
        one.folder.mkdir()
        made = recipe(one, one.folder)
        try:
            mark = label(one.target, one.variant)
            prepare(launch(one.name, made.image, mark, *made.options), made, one, one.folder)
        except BaseException:
            down([one])
            raise
        return True


def recipe(one: Kept, folder: Path) -> box.Recipe:
    """How the machine is made. It sees this checkout as it is, also later changes."""
    mount = box.checkout_mount(ROOT, "readonly")
    if one.variant in BARES:
        return BARES[one.variant](one.target, folder, mount)
    return box.recipe(one.target, one.variant.removeprefix(HEALTHY), folder, mount)


def prepare(machine: Machine, made: box.Recipe, one: Kept, folder: Path, release: str = "") -> None:
    """Bring a machine that was started to the state that a person finds."""
    box.run_in(machine, made.script)
    if one.variant in BARES:
        deps.fill(one.target, folder / "deps", release)
        machine.run(f"touch {bare.NEEDS_REBOOT}")


def down(those: Iterable[Kept]) -> None:
    """Remove machines, with what they have written into their folders."""
    for one in those:
        Machine(one.name).run("rm -rf /sys/module/* /sys/bus/pci/* /srv/deps/*")
        remove(one.name)
        shutil.rmtree(one.folder, ignore_errors=True)
        one.folder.with_suffix(".lock").unlink(missing_ok=True)
