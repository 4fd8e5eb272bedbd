"""The C++ compiler: which one a build would take, and whether it really compiles C++17."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from provision.facts.command import run
from provision.facts.proof import Proof
from provision.journal import Witness
from provision.paths import state_dir

_NAMES = ("c++", "g++", "clang++")  # the order in which CMake looks
C_NAMES = ("cc", "gcc", "clang")  # the same for C
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


def command(variable: str = "CXX", names: Sequence[str] = _NAMES) -> list[str]:
    """The compiler that a build takes, as it is called: a path, then what follows it each time.

    It is what the variable says, where that begins with a program, else the first of the names on
    PATH; [] for none. Starts nothing.
    """
    for words in (asked(variable), *([name] for name in names)):
        if words and (found := shutil.which(words[0])):
            return [found, *words[1:]]
    return []


def asked(variable: str) -> list[str]:
    """The words of a variable that may hold flags; all of it as one where its quotes are odd."""
    value = os.environ.get(variable, "")
    if not value:
        return []
    import shlex

    try:
        return shlex.split(value)
    except ValueError:
        return [value]


def compiler(variable: str = "CXX", names: Sequence[str] = _NAMES) -> Path | None:
    """The compiler itself: what comes after a launcher such as ccache, where one is named."""
    words = command(variable, names)
    behind = shutil.which(words[1]) if words[1:] and not words[1].startswith("-") else None
    return Path(behind or words[0]) if words else None


def compile_problem(called: Sequence[str | Path]) -> str:
    """What is wrong when a compiler, called so, builds a small C++17 program; "" for nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        source, program = Path(scratch) / "trial.cc", Path(scratch) / "trial"
        source.write_text(_PROGRAM)
        try:
            answer = run([*called, "-std=c++17", source, "-o", program], _LIMIT)
        except OSError as error:
            return f"{called[0]}: {error.strerror}"
    if answer.status == 0:
        return ""
    if answer.status is None:
        return f"{called[0]}: no answer within {_LIMIT:.0f} s"
    telling = [line for line in answer.lines if "error" in line.lower()]
    return next(iter(telling or answer.lines), f"exit status {answer.status}").strip()


def collect() -> Compiler | None:
    """The compiler with the outcome of its trial; None when there is no compiler.

    The trial of an unchanged compiler is not repeated while it worked: a failure may have its
    cause elsewhere (a missing header, a full disk), so it is never remembered.
    """
    path, called = compiler(), command()
    if path is None:
        return None
    proof = Proof(state_dir() / "compiler.json", {"command": " ".join(called)}, (Witness.of(path),))
    if known := proof.recall(Compiler):
        return known.value
    made = Compiler(str(path), _version(path), compile_problem(called))
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
