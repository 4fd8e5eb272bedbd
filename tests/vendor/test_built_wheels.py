"""A plugin and `paddlenlp_ops` built and installed by `provision`, from the small source tree.

The SDK is a stand-in; the stack is one for this machine's Python, with the real Paddle.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from provision.paths import IMAGES
from tests.conftest import ROOT, run_cli, shared_home, variables
from tests.lab.vendor import wheels
from tests.recipes.upstream import ascend, commit, upstream

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
Provision = Callable[..., "subprocess.CompletedProcess[str]"]
PADDLE = "3.3.1"
HEAD = f"""\
schema = 1
target = "ascend910b"
device = "npu"
python = ">=3.10,<3.13"
default_release = "{PADDLE}"
data = []
settings = ["SETTINGS"]

[requirements]
build = []
model = []

[releases."{PADDLE}"]
framework = ["paddlepaddle=={PADDLE}"]
paddlenlp = []
pins = {{ plugin = "{PADDLE}" }}
source = "the tests"
seen = "2026-11"

[[steps]]
name = "host/toolchain"
kind = "toolchain"

"""
STEPS = ("env/python", "framework/paddle", "plugin/build", "plugin/install", "model/ops")


def part(text: str, start: str) -> str:
    """The table of a stack file that begins with this line."""
    return text[text.index(start) :].partition("\n\n")[0] + "\n\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sources, an SDK that only its script in bash leads to, and a stack with the shipped steps."""
    folder = tmp_path_factory.mktemp("built")
    upstream(folder)
    vendor = ascend(folder)
    lines = [f"declare -a words=({value}); export {name}=${{words[0]}}\n"
             for name, value in vendor.items()]  # fmt: skip
    (folder / "set_env.sh").write_text("".join(lines))
    shipped = (IMAGES / "ascend910b/stack.toml").read_text("utf-8") + "\n"
    parts = [part(shipped, f'[[steps]]\nname = "{name}"') for name in STEPS]
    text = HEAD.replace("SETTINGS", f"{folder}/set_env.sh")
    text += part(shipped, "[packages.plugin]") + "".join(parts)
    afters = 'after = ["host/toolkit", "host/kernels", "host/nnal"]\n'
    assert afters in text
    (folder / "stack.toml").write_text(text.replace(afters, ""))
    locks = folder / "locks" / PADDLE
    locks.mkdir(parents=True)
    shutil.copy(IMAGES / "loopback" / "locks" / PADDLE / "framework.txt", locks)
    pythons = shared_home("build") / "pythons"
    pythons.mkdir(exist_ok=True)
    (folder / "home/cache").mkdir(parents=True)
    (folder / "home/cache/pythons").symlink_to(pythons)
    _compiler(folder)
    return folder


def _compiler(place: Path) -> None:
    """A compiler that sleeps when it comes to `kernel.cc` while a file `hold` is there."""
    held = f"[ ! -e {place}/hold ] || {{ touch {place}/held; exec sleep 321; }}"
    script = f'#!/bin/sh\ncase "$*" in *" -c "*kernel.cc*) {held} ;; esac\n'
    (place / "bin").mkdir()
    (place / "bin/c++").write_text(f'{script}exec {shutil.which("c++")} "$@"\n')
    (place / "bin/c++").chmod(0o755)


def environment(place: Path) -> dict[str, str]:
    """The variables with which that compiler is found."""
    path = f"{place}/bin{os.pathsep}{os.environ['PATH']}"
    return {"CXX": f"{place}/bin/c++", "PATH": path}


def words(place: Path, *flags: str) -> tuple[str, ...]:
    """The arguments of `provision` with that stack."""
    return ("provision", "--stack", str(place / "stack.toml"), "--yes", *flags)


@pytest.fixture
def provision(place: Path) -> Provision:
    """Run `provision` with that stack; the tests are steps of one story, in their order."""
    cli: Provision = run_cli
    return lambda *flags: cli(place / "home", *words(place, *flags), **environment(place))


def sources(place: Path) -> tuple[str, ...]:
    """The flags with the sources."""
    tree = str(place / "PaddleCustomDevice")
    return ("--plugin-source", tree, "--ops-source", tree)


def done(ended: subprocess.CompletedProcess[str]) -> list[str]:
    """The steps that a run has done."""
    lines = map(str.split, ended.stdout.splitlines())
    return [line[1] for line in lines if line[:1] == ["+"]]


def test_what_of_the_sdk_is_missing_is_told(place: Path, provision: Provision) -> None:
    library = next((place / "Ascend").rglob("libhccl.so"))
    library.rename(place / "libhccl.so")
    ended = provision(*sources(place))
    (place / "libhccl.so").rename(library)
    assert ended.returncode == 4, ended.stdout + ended.stderr
    assert "npu cannot be built yet: 1 " in ended.stderr
    assert "libhccl.so of Huawei is not there" in ended.stderr
    assert "model/ops" not in done(ended)


def test_an_interrupted_build_leaves_no_compiler(place: Path) -> None:
    (place / "hold").touch()
    argv = [sys.executable, str(ROOT / "tasks.py"), *words(place, *sources(place))]
    env = variables(place / "home") | environment(place)
    with subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=-3) as run:
        until = time.monotonic() + 240
        while not (place / "held").exists():
            assert run.poll() is None
            assert time.monotonic() < until
            time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        assert run.wait(30) == 130
    assert subprocess.run(["pgrep", "-f", "sleep 321"], check=False).returncode == 1
    (place / "hold").unlink()


def test_both_are_built_and_installed(place: Path, provision: Provision) -> None:
    ended = provision(*sources(place))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert done(ended) == ["plugin/build", "model/ops"]
    python = place / "home/data/envs/ascend910b/bin/python"
    ask = """
import importlib.metadata, paddlenlp_ops
print(importlib.metadata.version("paddle-custom-npu"), paddlenlp_ops.answer)
"""
    env = {**os.environ, "CUSTOM_DEVICE_ROOT": "/nonexistent"}
    said = subprocess.run([python, "-c", ask], env=env, capture_output=True, text=True, check=False)
    assert said.stdout == f"{PADDLE} 2\n", said.stderr


@pytest.mark.parametrize("again", [True, False])
def test_then_there_is_nothing_to_do(place: Path, provision: Provision, again: bool) -> None:
    """With the same flags, and without."""
    for _ in range(2):  # the second time by the seal
        ended = provision(*(sources(place) if again else ()))
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert "nothing to do" in ended.stdout and "steps: 5" in ended.stdout


def test_other_sources_would_be_built(place: Path, provision: Provision) -> None:
    tree = place / "PaddleCustomDevice"
    kernels = next((tree / "backends/npu").rglob("kernel.cc"))
    kernels.write_text(kernels.read_text() + "\nint added = 0;\n")
    refused = provision(*sources(place))
    assert refused.returncode == 2 and "kernel.cc" in refused.stderr
    commit(tree, "One file differs")
    planned = provision(*sources(place), "--dry-run").stdout.splitlines()
    assert [line.split()[1] for line in planned if line.startswith("  + ")] == [
        "plugin/build",
        "model/ops",
    ]


def test_the_wheel_of_the_vendor_takes_its_place_again(place: Path, provision: Provision) -> None:
    deps = place / "deps"
    deps.mkdir()
    wheels.plugin(deps, "npu", PADDLE, f"cp3{sys.version_info[1]}")
    ended = provision("--deps", str(deps))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "plugin/install" in done(ended) and "plugin/build" not in done(ended)
