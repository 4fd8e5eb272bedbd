"""The C++ under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer.

The harness drives the device runtime alone, with leak detection. The probes drive everything
through Paddle; there leaks are not looked for, and mismatched deallocation is allowed, because
the interpreter and Paddle do both by themselves.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.loopback.builds import SOURCES, Environment, build, make
from tests.loopback.conftest import HERE, run_probe

pytestmark = pytest.mark.slow

RUNTIME = SOURCES / "plugin" / "src"
THROUGH_PADDLE = {
    "ASAN_OPTIONS": "detect_leaks=0:alloc_dealloc_mismatch=0",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with both wheels built with sanitizers."""
    base = tmp_path_factory.mktemp("sanitized")
    made = make(base / "environment", "3.3.1")
    for package in ("plugin", "ops"):
        wheel, _ = build(
            made, SOURCES / package, base / package,
            "cmake.define.LOOPBACK_SANITIZE=address,undefined",
        )  # fmt: skip
        made.install(wheel)
    return made


def _compiler_library(name: str) -> str:
    return subprocess.run(
        ["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize("sanitizers", ["address,undefined", "thread"])
def test_the_runtime_alone(environment: Environment, tmp_path: Path, sanitizers: str) -> None:
    sources = [p for part in ("api", "runtime") for p in sorted((RUNTIME / part).glob("*.cc"))]
    subprocess.run(
        ["g++", "-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread",
         f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all", f"-I{RUNTIME}",
         "-isystem", environment.paddle / "include", HERE / "harness.cc", *sources,
         "-o", tmp_path / "harness"],
        check=True,
    )  # fmt: skip
    result = subprocess.run(
        [tmp_path / "harness"], capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "all as it should be\n"


@pytest.mark.parametrize(
    "arguments",
    [("kernels.py",), ("ops_checks.py", "differences"), ("ops_checks.py", "refusals"),
     ("ops.py", "attention", "loopback"), ("device.py", "two"), ("device.py", "counts")],
    ids=" ".join,
)  # fmt: skip
def test_everything_through_paddle(environment: Environment, arguments: tuple[str, ...]) -> None:
    # libstdc++ as well: the sanitizer looks for its functions when the process starts.
    preload = " ".join(_compiler_library(name) for name in ("libasan.so", "libstdc++.so.6"))
    outcome = run_probe(
        environment.folder, *arguments, limit=300, LD_PRELOAD=preload, LOOPBACK_DEVICES="2",
        # The sanitizer's dlopen does not see the run path by which Paddle finds its BLAS.
        LD_LIBRARY_PATH=str(environment.paddle / "libs"), **THROUGH_PADDLE,
    )  # fmt: skip
    report = outcome.report
    assert not (isinstance(report, dict) and report.get("wrong")), report
    for sign in ("AddressSanitizer", "runtime error:"):
        assert sign not in outcome.stderr
