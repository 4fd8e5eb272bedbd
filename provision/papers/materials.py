"""What a wheel was made from, as descriptors of in-toto, and with which tools."""

from __future__ import annotations

import csv
import hashlib
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from provision import distributions
from provision.digest import sha256
from provision.facts.compilers import compiler

if TYPE_CHECKING:
    from provision.wheels.work import Work
from provision.papers.statement import package as address

_LINKED = ("base/libpaddle.so", "libs/libphi_core.so", "libs/libcommon.so")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_OF_INSTALLERS = ("INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")


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


def vendors(work: Work) -> Iterator[dict[str, object]]:
    """The vendor's files that the build takes: headers, libraries, and archives linked in whole."""
    for piece in work.recipe.handed_out():
        path = piece.found(work.known)
        if path and path.is_file() and piece.applies(work.folder, work.known):
            name = piece.name if path.name == Path(piece.name).name else path.name
            yield {"name": f"{piece.vendor}/{name}", "digest": {"sha256": sha256(path)},
                   "annotations": {"vendor": piece.vendor}}  # fmt: skip


def packages(folder: Path, counts: Callable[[str], bool]) -> Iterator[dict[str, object]]:
    """The installed packages of the names that count, each with the digest of its list of files."""
    for (name, version), info in sorted(distributions.installed(folder).items()):
        if counts(name):
            told = {"files": _files(info)}
            yield {"uri": address(name, version), "annotations": told}


def _files(info: Path) -> str:
    """The SHA-256 of a RECORD, without the rows that the installer wrote for this machine.

    "" where there is none.
    """
    rows = csv.reader(distributions.record(info / "RECORD").splitlines())
    own = sorted(
        f"{row[0]},{row[1]}\n" for row in rows
        if len(row) > 1 and row[1] and not row[0].startswith(("..", "/"))
        and Path(row[0]).name not in _OF_INSTALLERS
    )  # fmt: skip
    return hashlib.sha256("".join(own).encode()).hexdigest() if own else ""


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
