"""The plan of the S60 in the lab's bare machines, beside its bare commands in a shell script.

Each run has a fresh machine: cards on the bus, nothing of the vendor installed. The installers are
the lab's, in the vendor's layout, as large as PADDING. `lab` has all packages in a folder and uv's
cache warm. In `overlap` all of them, those of the index too, come from one server that gives each
connection RATE, as nginx does with `limit_rate`; the script downloads and runs one after another.
Neither side runs smoke tests, and the tool's own environment is there before.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

from bench import limited
from bench.cost import Command, Cost, medians, ratio, run
from bench.places import TOP
from bench.result import Result
from provision.lock import lock_file
from provision.stack import load, stack_file
from tests.lab.machine import packed_clone
from tests.lab.vendor import enflame, wheels
from tests.lab.vendor.bare import DEPS, Bare, bare
from tests.lab.vendor.run_file import make

N = 3
TARGET = "s60"
PADDING = 96 << 20  # bytes
RATE = 6 << 20  # bytes a second for each connection
LIMIT = 900  # seconds
_STEPS = ("host/card", "host/system", "host/toolchain", "host/driver", "host/loaded", "host/tops",
          "env/python", "framework/paddle", "plugin/install")  # fmt: skip
_UV = "$(ls -d /root/.cache/paddock/tool/*/bin/uv | head -n 1)"
# The steps in their order, as somebody types them who knows what they do.
_SCRIPT = """
set -eu
export UV_PYTHON_DOWNLOADS=never UV="{uv}"
{fetch}
bash {run} --check
bash {run} --no-auto-load --driver -y < /dev/null
modprobe enflame
bash {run} --no-auto-load -y < /dev/null
"$UV" venv --quiet --python python3.10 /root/env
export VIRTUAL_ENV=/root/env
"$UV" pip install --no-deps --no-build-isolation --require-hashes {index} --requirement '{lock}'
"$UV" pip install --no-deps --offline {wheel}
"""


def lab() -> list[Result]:
    """Ours over theirs, the packages in a folder."""
    with _packages() as (packages, checkout):
        pairs = [(_ours(packages, checkout), _theirs(packages, checkout)) for _ in range(N)]
    ours, theirs = (list(side) for side in zip(*pairs, strict=True))
    figure = ratio(ours, theirs)
    return [Result("lab provision / script", figure, "x", 1.15, N, medians(ours, theirs))]


def overlap() -> list[Result]:
    """Theirs, one after another, over ours, everything from a server with a limit."""
    with _packages() as (packages, checkout):
        wheels_of_lock = limited.wheels(_lock(), TOP / "wheels-s60")
        with limited.serving(packages, wheels_of_lock, RATE) as address:
            pairs = [(_ours(packages, checkout, address), _theirs(packages, checkout, address))
                     for _ in range(N)]  # fmt: skip
    ours, theirs = (list(side) for side in zip(*pairs, strict=True))
    detail = f"{RATE >> 20} MiB/s a connection; {medians(theirs, ours)}"
    return [Result("serial script / s60 provision", ratio(theirs, ours), "x", 1.3, N, detail,
                   at_least=True)]  # fmt: skip


def _lock() -> Path:
    stack = load(stack_file(TARGET))
    return lock_file(stack_file(TARGET).parent, stack.default_release, "framework")


@contextlib.contextmanager
def _packages() -> Iterator[tuple[Path, Path]]:
    """The packages of the default release, and a clone of this checkout."""

    def padded(file: Path, label: str, fill: Callable[[Path], None]) -> Path:
        def more(source: Path) -> None:
            fill(source)
            (source / "padding").write_bytes(os.urandom(PADDING))

        return make(file, label, more)

    TOP.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TOP) as scratch:
        packages, checkout = Path(scratch, "packages"), Path(scratch, "clone")
        for folder in (Path(scratch), packages, checkout):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)
        subprocess.run(["tar", "-x", "-C", checkout], input=packed_clone(), check=True)
        with mock.patch.object(enflame, "make", padded):
            enflame.rider(packages)
        wheels.plugin(packages, "gcu")
        yield packages, checkout


@contextlib.contextmanager
def _machine(packages: Path, checkout: Path, *, with_folder: bool) -> Iterator[Bare]:
    """A bare machine in which the tool has its environment."""
    with bare(TARGET, checkout) as box:
        if with_folder:
            for file in packages.iterdir():
                shutil.copy2(file, box.deps / file.name)
        run(Command(box.command("./paddock --list", LIMIT, "root")))
        yield box


def _ours(packages: Path, checkout: Path, address: str = "") -> Cost:
    """The time of `paddock provision`."""
    only = f"--target {TARGET} --yes --only {','.join(_STEPS)}"
    if address:
        more = f"--deps {address}/packages/ --index-url {address}/simple/"
        line = f"UV_CACHE_DIR=/root/uv ./paddock provision {only} {more}"
    else:
        line = f"./paddock provision {only} --deps {DEPS}"
    with _machine(packages, checkout, with_folder=not address) as box:
        return _cost(box, line)


def _cost(box: Bare, line: str) -> Cost:
    """What a command in a machine takes: wall time, and the processor's time of the machine."""
    before = _processor(box)
    cost = run(Command(box.command(line, LIMIT, "root")))
    return Cost(cost.wall, _processor(box) - before)


def _processor(box: Bare) -> float:
    """The processor time of all that has run in a machine, in seconds."""
    old = box.run("cat /sys/fs/cgroup/cpuacct/cpuacct.usage").stdout  # before cgroup 2
    if old:
        return int(old) / 1e9
    stat = box.run("cat /sys/fs/cgroup/cpu.stat").stdout
    return int(stat.partition("usage_usec ")[2].split()[0]) / 1e6


def _theirs(packages: Path, checkout: Path, address: str = "") -> Cost:
    """The time of the script."""
    folder, index, fetch = (DEPS, "", "") if not address else (
        "/root/packages", f"--index-url {address}/simple/", _fetching(packages, address)
    )  # fmt: skip
    with _machine(packages, checkout, with_folder=not address) as box:
        lock = Path(box.checkout) / _lock().relative_to(stack_file(TARGET).parents[2])
        (installer,), (wheel,) = packages.glob("*.run"), packages.glob("*.whl")
        script = _SCRIPT.format(uv=_UV, fetch=fetch, run=f"{folder}/{installer.name}", index=index,
                                lock=lock, wheel=f"{folder}/{wheel.name}")  # fmt: skip
        return _cost(box, script)


def _fetching(packages: Path, address: str) -> str:
    """The lines that download the packages; the machine has Python, and no curl."""
    lines = ["export UV_CACHE_DIR=/root/uv", "mkdir /root/packages", "cd /root/packages"]
    code = "import sys, urllib.request; urllib.request.urlretrieve(*sys.argv[1:])"
    lines += [f'python3 -c "{code}" {address}/packages/{file.name} {file.name}'
              for file in sorted(packages.iterdir())]  # fmt: skip
    return "\n".join(lines)
