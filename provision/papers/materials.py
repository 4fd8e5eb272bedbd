"""What a wheel was made from: sources, packages by their locks, Paddle's own libraries, tools."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from provision import distributions
from provision.digest import sha256
from provision.facts.compilers import compiler
from provision.papers.statement import package as address

_LINKED = ("base/libpaddle.so", "libs/libphi_core.so", "libs/libcommon.so")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def locked(lock: Path, name: str, python: str) -> Iterator[dict[str, object]]:
    """A lock, and the packages that it pins for a Python (`3.11.2`).

    A lock may admit several files of one package, for other machines and Pythons; which of them was
    installed, no installer writes down.
    """
    yield {"name": name, "digest": {"sha256": sha256(lock)}}
    text = lock.read_text(encoding="utf-8")
    for package, version in distributions.pins(text, python).items():
        found = {"lock": name, "sha256": _admitted(text, package, version)}
        yield {"uri": address(package, version), "annotations": found}


def _admitted(lock: str, package: str, version: str) -> list[str]:
    """The digests of a package in a lock."""
    start = rf"^{re.escape(package)}=={re.escape(version)}(?![\w.]).*(?:\n .*)*"
    blocks = re.findall(start, lock, re.MULTILINE)
    return sorted({one for block in blocks for one in _HASH.findall(block)})


def linked(paddle: Path) -> Iterator[dict[str, object]]:
    """The libraries of the Paddle in this folder, with which a plugin is linked."""
    for name in _LINKED:
        if (paddle / name).is_file():
            yield {"name": f"paddle/{name}", "digest": {"sha256": sha256(paddle / name)}}


def tools() -> dict[str, str]:
    """The compiler of a build and the linker as they call themselves; those that are there."""
    programs = {"c++": str(compiler() or "c++"), "ld": "ld"}
    return {name: said for name, program in programs.items() if (said := _said(program))}


def _said(name: str) -> str:
    """The first line of `--version`; "" where there is no such program."""
    try:
        answer = subprocess.run(
            [name, "--version"], capture_output=True, text=True, check=False, errors="replace"
        )
    except OSError:
        return ""
    return next(iter(answer.stdout.splitlines()), "")
