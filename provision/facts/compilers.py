"""The C++ compiler: which one a build would take, and whether it really compiles C++17."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import msgspec

from provision.facts.command import run
from provision.facts.proof import Proof
from provision.journal import Witness
from provision.paths import state_dir

_NAMES = ("c++", "g++", "clang++")  # the order in which CMake looks
_LIMIT = 30.0  # seconds

# Needs the standard library, the headers of the C library and a linker: a driver without its
# compiler proper, or without libstdc++'s headers, fails here and not after minutes of a build.
_PROGRAM = """\
#include <cstdio>
#include <optional>
int main() {
  if constexpr (std::optional<int> answer = 17; sizeof(int) > 1) return std::printf("%d", *answer);
}
"""


class Compiler(msgspec.Struct, frozen=True):
    """A C++ compiler: its path, version line, and what a trial said ("" when it worked)."""

    path: str
    version: str
    problem: str


def compiler() -> Path | None:
    """The compiler that a build takes: the one of CXX, else the first on PATH. Starts nothing."""
    wanted = os.environ.get("CXX", "").split()[:1]
    found = (shutil.which(name) for name in (*wanted, *_NAMES))
    return next((Path(path) for path in found if path), None)


def compile_problem(path: Path) -> str:
    """What is wrong when this compiler builds a small C++17 program; "" when nothing is."""
    with tempfile.TemporaryDirectory() as scratch:
        source, program = Path(scratch) / "trial.cc", Path(scratch) / "trial"
        source.write_text(_PROGRAM)
        try:
            answer = run([path, "-std=c++17", source, "-o", program], _LIMIT)
        except OSError as error:
            return f"{path}: {error.strerror}"
    if answer.status == 0:
        return ""
    if answer.status is None:
        return f"{path}: no answer within {_LIMIT:.0f} s"
    telling = [line for line in answer.lines if "error" in line.lower()]
    return next(iter(telling or answer.lines), f"exit status {answer.status}").strip()


def collect() -> Compiler | None:
    """The compiler with the outcome of its trial; None when there is no compiler.

    The trial of an unchanged compiler is not repeated while it worked: a failure may have its
    cause elsewhere (a missing header, a full disk), so it is never remembered.
    """
    path = compiler()
    if path is None:
        return None
    proof = Proof(state_dir() / "compiler.json", {"path": str(path)}, (Witness.of(path),))
    if known := proof.recall(Compiler):
        return known.value
    made = Compiler(str(path), _version(path), compile_problem(path))
    if not made.problem:
        proof.keep(made)
    return made


def _version(path: Path) -> str:
    """The first line of `--version`, or "" when there is none."""
    try:
        lines = run([path, "--version"], _LIMIT).out.splitlines()
    except OSError:
        return ""
    return lines[0].strip() if lines else ""
