"""Is there a C++ compiler, and does it compile C++17?"""

from __future__ import annotations

from checks.machine.finding import Check, Evidence, Finding, known, ok, provision
from provision.facts.snapshot import Facts


def _run(facts: Facts) -> Finding:
    compiler = known(facts.compiler)
    if compiler is None:
        # No fault: `provision` installs one, or says what to type.
        evidence = [Evidence("none of $CXX, c++, g++, clang++", "PATH")]
        return Finding("absent", "none", {}, evidence, provision(facts.target))
    if compiler.problem:
        evidence = [Evidence(compiler.problem, "a trial program"),
                    Evidence(compiler.version or "-", f"{compiler.path} --version")]  # fmt: skip
        return Finding("error", "fails", {"compiler": compiler.path}, evidence)
    return ok(f"{compiler.path}: {compiler.version}", "a trial program")


CHECK = Check("compiler-works", _run)
