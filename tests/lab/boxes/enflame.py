"""A healthy box with eight Enflame S60: driver 1.5.0.5 and TopsRider i3x 3.5.102.

That pair is documented. The packages are made here and installed by the real dpkg.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.lab.boxes import environment
from tests.lab.boxes.objects import DMESG, headers, library, module
from tests.lab.boxes.spec import Function, Node, Spec

DRIVER = "1.5.0.5"
# What variants put in place of the healthy: modules of another driver and for another kernel.
OLD_DRIVER = "1.3.3.4"
OLD_KERNEL = Path("var/lib/lab/modules/5.15.0-130-generic")
EFSMI = f"usr/local/efsmi/efsmi-{DRIVER}"
BUSES = ("23", "24", "25", "26", "33", "34", "35", "36")
SETUP = f"""
set -e
{environment.SETUP}useradd --create-home developer
useradd --create-home stranger
chmod 0755 /usr/local/efsmi/*/efsmi /usr/local/bin/*
dpkg -i /var/lib/lab/packages/*.deb
depmod -b / $(ls /lib/modules)
ldconfig
"""
# name: (version, what it depends on, library, its functions)
PACKAGES = {
    "topsruntime": ("1.5.0.601", "", "opt/tops/lib/libtopsrt.so", ["topsInit"]),
    "topsfactor": ("1.5.0.601-1", "", "opt/tops/lib/libtopsfactor.so", ["topsFactorInit"]),
    "tops-sdk": ("1.5.0.601-1", "topsfactor, topsruntime", "usr/lib/libdtu_sdk.so", ["dtuInit"]),
    "eccl": ("1.5.0.601-1", "tops-sdk", "usr/lib/libeccl.so", ["ecclCommInitRank"]),
    "topsaten": ("1.5.0.601-1", "tops-sdk", "usr/lib/libtopsaten.so", ["topsatenInit"]),
    "enflame-container-toolkit": ("2.0.48", "", "usr/lib/libenflame-container.so", ["run"]),
}


def spec() -> Spec:
    """The box."""
    nodes = [Node(f"/dev/gcu{n}", 240, n, "0666", "root:root") for n in range(8)]
    control = Node("/dev/gcuctl", 240, 255, "0666", "root:root")
    state = {"fault": "", "tool": DRIVER, "cards": [_card(n) for n in range(8)]}
    return Spec("s60", (*_accelerators(), *_others()), {"enflame": DRIVER},
                (*nodes, control), state, ":")  # fmt: skip


def _accelerators() -> list[Function]:
    return [
        Function(
            f"0000:{bus}:00.0", "1e36", "c035", "120000", ("1e36", "0001"), 1, n // 4,
            (16, 5), (16, 5), "enflame",
        )
        for n, bus in enumerate(BUSES)
    ]  # fmt: skip


def _others() -> list[Function]:
    """A network card and a display of other vendors."""
    nic = Function("0000:17:00.0", "15b3", "101d", "020000", ("15b3", "0016"), 0, 0,
                   (16, 4), (16, 4), "mlx5_core")  # fmt: skip
    return [nic, Function("0000:03:00.0", "1a03", "2000", "030000", ("1a03", "2000"), 0x52)]


def _card(number: int) -> dict[str, Any]:
    return {
        "id": number, "name": "S60", "bus": f"0000:{BUSES[number]}:00.0", "device": "c035",
        "serial": f"L0LAB{number:08}", "firmware": "33.6.5", "health": True, "power": 98 + number,
        "temperature": 35 + number, "dpm": "Sleep", "link": [16, 5], "ecc": "Enable",
        "ecc_pending": "Enable", "rma": False, "dbe": 0, "cable": "Normal",
    }  # fmt: skip


def write_files(root: Path) -> None:
    """Put the vendor's files into a folder as they lie on the machine, and its packages."""
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    library(root / EFSMI / "lib/libefml.so.1.0.0", ["efmlInit", "efmlGetDevCount"])
    (root / "usr/lib").mkdir()
    (root / "usr/lib/libefml.so").symlink_to(f"/{EFSMI}/lib/libefml.so.1.0.0")
    (root / "usr/sbin").mkdir()
    (root / "usr/sbin/efsmi").symlink_to(f"/{EFSMI}/efsmi")
    kernel = os.uname().release
    module(root / f"lib/modules/{kernel}/updates/enflame.ko", kernel, DRIVER)
    module(root / f"{OLD_KERNEL}/updates/enflame.ko", OLD_KERNEL.name, DRIVER)
    module(root / "var/lib/lab/old/enflame.ko", kernel, OLD_DRIVER)
    headers(root, kernel)
    runtime = root / "var/lib/lab/libtopsrt.so"
    library(runtime, ["topsInit"])
    environment.write_environment(root, "custom-gcu", "3.1.1", [runtime], ["topsInit"])
    packages = root / "var/lib/lab/packages"
    packages.mkdir(parents=True)
    for number, name in enumerate(PACKAGES):  # in the order in which dpkg can set them up
        package(packages / f"{number}-{name}.deb", name)
    package(root / "var/lib/lab/old/topsaten.deb", "topsaten", "1.2.0.301-1")


def package(file: Path, name: str, other_version: str = "") -> None:
    """A real package with one library."""
    version, depends, place, functions = PACKAGES[name]
    version = other_version or version
    control = (f"Package: {name}\nVersion: {version}\nArchitecture: amd64\n"
               f"Maintainer: Lab <lab@localhost>\nDescription: {name} of the lab\n")  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        root.chmod(0o755)
        library(root / place, functions)
        for place, text in MORE.get(name, {}).items():
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            (root / place).write_text(text)
            (root / place).chmod(0o755)
        (root / "DEBIAN").mkdir()
        (root / "DEBIAN/control").write_text(control + (f"Depends: {depends}\n" * bool(depends)))
        subprocess.run(["dpkg-deb", "--build", "--root-owner-group", "-Znone", root, file],
                       check=True, capture_output=True)  # fmt: skip


DAEMON = """\
{
    "default-runtime": "enflame",
    "runtimes": {
        "enflame": {"path": "/usr/bin/enflame-container-runtime", "runtimeArgs": []}
    },
    "default-shm-size": "1G"
}
"""
# What a package has beside its library.
MORE = {
    "enflame-container-toolkit": {
        "usr/bin/enflame-container-runtime": "#!/bin/sh\nexec runc \"$@\"\n",
        "etc/enflame-container-runtime/config.toml": "debug = false\n",
    },
}  # fmt: skip
FILES = {
    "usr/local/bin/dmesg": DMESG,
    "var/lib/lab/dmesg": "[   11.903217] enflame: loading out-of-tree module taints kernel.\n",
    "etc/docker/daemon.json": DAEMON,
    "etc/ld.so.conf.d/tops.conf": "/opt/tops/lib\n",
    f"{EFSMI}/efsmi": (Path(__file__).parent / "programs/efsmi.py").read_text(),
    "usr/local/topsrider/dockerfile/README.md": "Dockerfiles\n",
    "usr/local/topsrider/data_center_toolkit/README.md": "Data center toolkit\n",
    "usr/local/topsrider/ai_development_toolkit/README.md": "AI development toolkit\n",
    "tmp/topsinstaller/TopsRider20250901-101500.log": (
        "Verifying archive integrity... All good.\n"
        "Uncompressing ENFLAME TOPSRIDER PACKAGE\n"
        "[1/3] Install TopsPlatform Package\n"
        "[2/3] Install Dockerfile to /usr/local/topsrider/dockerfile\n"
        "[3/3] Install Data Center Toolkit to /usr/local/topsrider/data_center_toolkit\n"
        "Install Finished. 3 installed.  100%   MD5 checksums are OK.  100%\n"
    ),
}
