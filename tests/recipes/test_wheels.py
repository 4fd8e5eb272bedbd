"""Wheels built for real from the small source tree: names, loading, caching, the same bytes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from provision.facts.linking.elf_file import ElfFile
from tests.conftest import ROOT, variables
from tests.recipes.conftest import PADDLE, Build, wheel_of
from tests.recipes.upstream import ascend, commit, tops

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
TAG = f"cp{sys.version_info[0]}{sys.version_info[1]}"
OURS = ("--paddle", PADDLE, "--json")


def test_custom_cpu_is_built_computes_and_is_found_again(tree: Path, build: Build) -> None:
    order = ("--backend", "custom_cpu", "--source", str(tree), *OURS)
    first = wheel_of(build(*order))
    name = Path(first["path"]).name
    assert re.fullmatch(rf"paddle_custom_cpu-0\.0\.1-{TAG}-{TAG}-linux_\w+\.whl", name)
    assert (first["made"], first["trial"], first["paddle"]) == (True, "loads", PADDLE)
    assert (first["audit"]["status"], first["audit"]["bad"]) == (0, [])
    assert first["audit"]["registered"] == "registered: custom_cpu"
    again = wheel_of(build(*order))
    assert (again["made"], again["path"], again["key"]) == (False, first["path"], first["key"])
    assert (again["trial"], again["audit"]) == ("loads", first["audit"])
    content = Path(first["path"]).read_bytes()
    # Killed before it was tried: the next run does that.
    Path(first["path"]).with_name("trial.json").unlink()
    again = wheel_of(build(*order))
    assert (again["made"], again["trial"]) == (False, "loads")

    # Another build tree, the same bytes, and none of this machine's folders in them.
    cache = Path(first["path"]).parents[4] / "cache"
    shutil.rmtree(cache / "build")
    shutil.rmtree(Path(first["path"]).parent)
    assert wheel_of(build(*order))["made"]
    assert Path(first["path"]).read_bytes() == content
    with zipfile.ZipFile(first["path"]) as wheel:
        library = wheel.read("paddle_custom_device/libpaddle-custom-cpu.so")
    assert b"$ORIGIN/../paddle/libs" in library
    assert os.fsencode(cache) not in library and os.fsencode(tree.parent) not in library

    # One file that differs costs one compiler; what was cached for the old commit stays.
    kernel = tree / "backends/custom_cpu/kernels/runtime/stats.cc"
    kernel.write_text(kernel.read_text() + "\nint touched_by_a_test = 0;\n")
    refused = build(*order)
    assert refused.returncode == 2 and "stats.cc" in refused.stdout
    commit(tree, "One file differs")
    third = wheel_of(build(*order))
    assert third["made"] and third["path"] != first["path"]
    assert len(re.findall(r"Building CXX object", Path(third["log"]).read_text())) == 1
    assert not wheel_of(build(*order, "--ref", "v1"))["made"]


def test_npu_and_its_operators(tree: Path, build: Build, tmp_path: Path) -> None:
    vendor = ascend(tmp_path)
    order = ("--backend", "npu", "--source", str(tree), *OURS)
    wheel = wheel_of(build(*order, **vendor))
    # The stand-in is no plugin, and Paddle says so; the next run tells it again.
    assert wheel["trial"] == "skipped" and "InitPlugin" in wheel["said"]
    assert wheel["audit"]["bad"] == ["plugin-loads"]
    again = wheel_of(build(*order, **vendor))
    assert (again["trial"], again["said"]) == (wheel["trial"], wheel["said"])
    name = Path(wheel["path"]).name
    machine = os.uname().machine
    assert name == f"paddle_custom_npu-{PADDLE}-{TAG}-{TAG}-linux_{machine}.whl"
    with zipfile.ZipFile(wheel["path"]) as archive:
        pages = archive.read("paddle_custom_device/npu/__init__.py").decode()
        assert archive.read("paddle_custom_device/npu/ops.py") == b"answer = 2\n"  # ATB is in
    assert "8.0.RC1" in pages and PADDLE in pages
    ops = wheel_of(build("--backend", "paddlenlp_ops", "--source", str(tree), "--json"))
    assert Path(ops["path"]).name == f"paddlenlp_ops-0.0.0-{TAG}-{TAG}-linux_{machine}.whl"
    with zipfile.ZipFile(ops["path"]) as archive:
        assert b"paddle_custom_device.npu.ops" in archive.read("paddlenlp_ops/__init__.py")


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="Enflame's stack is for x86_64")
def test_gcu_gets_a_version_that_is_one(tree: Path, build: Build, tmp_path: Path) -> None:
    order = ("--backend", "gcu", "--source", str(tree), *OURS)
    wheel = wheel_of(build(*order, **tops(tmp_path)))
    assert wheel["trial"] == "skipped" and wheel["audit"]["bad"] == ["plugin-loads"]
    short = wheel["commit"][:7]
    assert wheel["version"] == f"{PADDLE}+0.g{short}.3.1.0"
    assert Path(wheel["path"]).name.startswith(f"paddle_custom_gcu-{PADDLE}+0.g{short}.3.1.0-{TAG}")
    with zipfile.ZipFile(wheel["path"]) as archive:
        names = archive.namelist()
        assert archive.read("paddle_custom_device/gcu/ops/__init__.py") == b"answer = 5\n"
        library = archive.extract("paddle_custom_device/libpaddle-custom-gcu.so", tmp_path)
    found = ElfFile(Path(library))
    assert {"libpaddle.so", "libtopsaten.so"} <= set(found.needed)
    runpath = found.runpath
    assert "$ORIGIN/gcu" in runpath and all(one.startswith("$ORIGIN") for one in runpath)
    assert "paddle_custom_device/gcu/passes/pass.py" in names


def _compiler(folder: Path, on_kernel: str) -> dict[str, str]:
    """A compiler that does something else when it comes to `kernel.cc`; the variables to use it."""
    folder.mkdir()
    real = shutil.which("c++")
    script = f'#!/bin/sh\ncase "$*" in *" -c "*kernel.cc*) {on_kernel} ;; esac\nexec {real} "$@"\n'
    (folder / "c++").write_text(script)
    (folder / "c++").chmod(0o755)
    return {"CXX": str(folder / "c++"), "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_a_killed_build_goes_on(tree: Path, build: Build, tmp_path: Path) -> None:
    home, mark = tmp_path / "ho me", tmp_path / "waits"
    slow = f'[ -e "{mark}" ] || {{ touch "{mark}"; sleep 300; }}'
    more = _compiler(tmp_path / "bin", slow) | ascend(tmp_path)
    order = ("--backend", "npu", "--source", str(tree), *OURS, "--jobs", "1")
    command = [sys.executable, str(ROOT / "tasks.py"), "build-ops", *order]
    with subprocess.Popen(command, env=variables(home) | more, stdout=-3, stderr=-3) as process:
        deadline = time.monotonic() + 240
        while not mark.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
    assert mark.exists() and not list((home / "data").rglob("*.whl"))
    made = list((home / "cache/build").rglob("runtime.cc.o"))
    wheel = wheel_of(build(*order, **more))
    compiled = re.findall(r"Building CXX object \S+/(\w+\.cc)\.o", Path(wheel["log"]).read_text())
    assert "kernel.cc" in compiled and len(compiled) + len(made) == 2
    left = subprocess.run(["pgrep", "-f", f"{tmp_path}/bin/c++"], check=False)
    assert left.returncode == 1  # what the killed run had started was ended


@pytest.mark.parametrize("memory", ["comes back", "never comes back"])
def test_memory_that_runs_out(tree: Path, build: Build, tmp_path: Path, memory: str) -> None:
    """A compiler that is killed as the kernel does it, once or always."""
    mark = tmp_path / "killed"
    once = f'[ -e "{mark}" ] ||' if memory == "comes back" else ""
    says = "c++: fatal error: Killed signal terminated program cc1plus"
    killed = f'{once} {{ touch "{mark}"; echo "{says}" >&2; exit 1; }}'
    more = _compiler(tmp_path / "bin", killed) | ascend(tmp_path)
    order = ("--backend", "npu", "--source", str(tree), "--paddle", PADDLE, "--jobs", "40")
    done = build(*order, **more)
    # Not half of 40: with as many as memory, processors and the two files allow.
    assert re.search(r"ran out with 40 compilers; going on with [12]$", done.stdout, re.MULTILINE)
    if memory == "comes back":
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 4 and "--jobs 1" in done.stderr
        assert not list((tmp_path / "ho me" / "data").rglob("*.whl"))


def test_the_matrix_is_what_happens(tree: Path, build: Build) -> None:
    order = ("--backend", "custom_cpu", "--source", str(tree), "--matrix")
    done = build(*order, "--paddle", f"{PADDLE},9.9.9")
    assert done.returncode == 4, done.stderr  # as `build-ops --paddle 9.9.9` ends
    assert done.stdout.count(".whl.intoto.json, ") == 1
    rows = [line for line in done.stdout.splitlines() if re.match(r"  [39]\.\d\.\d +\w", line)]
    assert [row.split()[0] for row in rows] == [PADDLE, "9.9.9"]
    assert re.fullmatch(r"  3\.3\.1 +loads 5/5 +-", rows[0])
    assert "could not be built" in rows[1] and "9.9.9" in done.stderr
