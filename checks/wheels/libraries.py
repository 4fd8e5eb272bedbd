"""Are the wheel's libraries sound, and free of what their build left in them?"""

from __future__ import annotations

import platform
import posixpath
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import msgspec

from checks.machine.finding import APART, Evidence, Finding, State
from checks.wheels.contents import is_library
from checks.wheels.subject import Subject
from provision.distributions import normal
from provision.facts.linking.elf_file import ElfFile
from provision.facts.linking.library_folders import products
from provision.facts.linking.linkage import Linkage

_ELF = "System V ABI; ld.so(8)"
_PADDLE = "measured: Paddle opens each *.so in paddle_custom_device, and nothing below it"
_PLUGIN = "paddle-custom-"
# Where a build happens, or what only its owner may read: nobody else has it, or, worse, anybody may
# put a library there.
_BUILD = (
    "/tmp", "/var/tmp", "/dev/shm", "/proc", "/run", "/home", "/root", "/build", "/builds",  # noqa: S108
    "/workspace", "/work", "/mnt", "/paddle", "/github", "/__w", "/var/lib/jenkins",
)  # fmt: skip
# How files begin that other systems load.
_OTHERS = {b"MZ": "Windows", b"\xcf\xfa\xed\xfe": "macOS", b"\xca\xfe\xba\xbe": "macOS"}
_SYSTEM = re.compile(r"/(usr/)?(local/)?lib(32|64)?(/[a-z0-9_]+-linux-gnu)?")
_PYTHON = re.compile(r"/(site|dist)-packages(/|$)")
# The loader takes the name only where it is a whole part of the path.
_ORIGIN = re.compile(r"\$(ORIGIN|\{ORIGIN\})(?=/|$)")
_PREFIX = 3  # folders from site-packages up to the environment: lib/python3.x/site-packages
_ORDER = ("relative", "outside", "build", "environment", "absolute")


def sound(subject: Subject) -> Finding:
    """Each library is an ELF file for this processor, and a plugin has one where Paddle looks."""
    if subject.name and normal(subject.name.name).startswith(_PLUGIN) and not subject.is_plugin:
        evidence = [Evidence("paddle_custom_device/*.so: -", subject.path.name)]
        return Finding("error", "none", {"name": subject.name.name}, evidence, source=_PADDLE)
    if not subject.linkage:
        return APART
    bad = [one for one in map(_judged, subject.linkage) if one.problem]
    evidence = [Evidence(f"{one.problem}", one.file) for one in bad[:4]]
    for one in bad:
        values = {"file": one.file, "arch": one.arch, "here": platform.machine(),
                  "problem": one.problem}  # fmt: skip
        case = "arch" if one.arch not in ("", platform.machine()) else "broken"
        return Finding("error", case, values, evidence, source=_ELF)
    if finding := _promise(subject):
        return finding
    line = f"{subject.linkage[0].arch}, libraries: {len(subject.linkage)}"
    return Finding("ok", evidence=[Evidence(line, subject.path.name)])


def _judged(one: Linkage) -> Linkage:
    """A library with what can be told further: for what system it is, or that it is a program."""
    if not one.arch:
        with Path(one.file).open("rb") as file:
            head = file.read(4)
        system = next((name for magic, name in _OTHERS.items() if head.startswith(magic)), "")
        return msgspec.structs.replace(one, arch=system)
    if not one.problem and is_library(one.file) and ElfFile(Path(one.file)).is_program:
        return msgspec.structs.replace(one, problem="a program, not a library")
    return one


def _promise(subject: Subject) -> Finding | None:
    """The tag promises no other machine than the libraries are for."""
    tags = subject.name.tags if subject.name else []
    arch = subject.linkage[0].arch
    for tag in tags:
        target = tag.rpartition("-")[2]
        if target == "any" or not target.endswith(f"_{arch}"):
            values = {"tag": tag, "arch": arch, "file": subject.linkage[0].file}
            return Finding("warning", "promise", values, source="PEP 425")
    return None


def manylinux(subject: Subject) -> Finding:
    """The tag promises no older C library than the libraries need."""
    platforms = [tag.rpartition("-")[2] for tag in subject.name.tags] if subject.name else []
    least = sorted(filter(None, map(_glibc, platforms)))
    if not least:
        return APART
    for one in subject.linkage:
        needs = tuple(map(int, (one.glibc or "0").split(".")))[:2]
        if needs > least[0]:
            values = {"file": one.file, "needs": one.glibc or "", "tag": ".".join(platforms)}
            evidence = [Evidence(f"GLIBC_{one.glibc}", one.file)]
            return Finding("warning", "newer", values, evidence, source="PEP 600")
    return Finding("ok", evidence=[Evidence(f"glibc {least[0][0]}.{least[0][1]}", "tag")])


def _glibc(tag: str) -> tuple[int, int] | None:
    """The C library that a tag promises to do with; None for one without such a promise."""
    old = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
    match = re.match(r"manylinux_(\d+)_(\d+)_", tag)
    return (int(match[1]), int(match[2])) if match else old.get(tag.partition("_")[0])


def runpath(subject: Subject) -> Finding:
    """No library is looked for where only the machine of the build has it."""
    found = [(tag, path, one) for one in subject.linkage for tag, path in _paths(one)]
    graded = [(grade, *row) for row in found if (grade := _grade(row[1], _depth(subject, row[2])))]
    if not graded:
        line = next((f"{tag} {path}" for tag, path, _ in found), "no RUNPATH, no RPATH")
        return Finding("ok", evidence=[Evidence(line, subject.path.name)])
    graded.sort(key=lambda row: (row[0][0] != "error", _ORDER.index(row[0][1])))
    (state, case), _, path, one = graded[0]
    evidence = [Evidence(f"{tag} {path}", one.file) for _, tag, path, one in graded[:4]]
    return Finding(state, case, {"path": path, "file": one.file}, evidence, source=_ELF)


def _depth(subject: Subject, one: Linkage) -> int:
    """How many folders below site-packages a library is."""
    return len(Path(one.file).relative_to(subject.site).parts) - 1


def _paths(one: Linkage) -> Iterator[tuple[str, str]]:
    """The folders that a library names, and where; DT_RPATH counts only without DT_RUNPATH.

    One that was linked with a library without a SONAME asks for it by its whole path.
    """
    tag = "RUNPATH" if one.runpath else "RPATH"
    yield from ((tag, path) for path in one.runpath or one.rpath)
    yield from (("NEEDED", str(Path(need.name).parent)) for need in one.needed if "/" in need.name)


def _grade(path: str, depth: int) -> tuple[State, str] | None:
    """What is wrong with a folder that a library names, so many folders below site-packages.

    None for one in its environment, the system's or a vendor's.
    """
    if origin := _ORIGIN.match(path):
        outside = _climbs(path[origin.end() :], depth) > _PREFIX
        return ("error", "outside") if outside else None
    if not path.startswith("/"):
        return "error", "relative"
    path = "/" + posixpath.normpath(path).lstrip("/")
    if any(_below(path, one) for one in _vendors()) or _SYSTEM.fullmatch(path):
        return None
    is_build = any(_below(path, folder) for folder in _BUILD)
    if _PYTHON.search(path):
        return "error" if is_build else "warning", "environment"
    return ("error", "build") if is_build else ("warning", "absolute")


def _climbs(path: str, depth: int) -> int:
    """How many folders above site-packages a path leads at its highest."""
    level = highest = depth
    for part in path.split("/"):
        level += {"..": -1, "": 0, ".": 0}.get(part, 1)
        highest = min(highest, level)
    return -highest


def _below(path: str, folder: str) -> bool:
    return PurePosixPath(path).is_relative_to(folder)


@cache
def _vendors() -> tuple[str, ...]:
    """The folders in which the vendors install, up to what is a version."""
    patterns = [pattern for one in products() for pattern in one.folders]
    return tuple({"/".join(pattern.split("/")[:4]) if pattern.startswith("/usr") else
                  "/".join(pattern.split("/")[:3]) for pattern in patterns})  # fmt: skip


def stack(subject: Subject) -> Finding:
    """No library makes the stack of the whole process executable."""
    if not subject.linkage:
        return APART
    files = [one.file for one in subject.linkage if not one.problem]
    bad = [path for path in files if ElfFile(Path(path)).executable_stack]
    if not bad:
        return Finding("ok", evidence=[Evidence("PT_GNU_STACK RW", subject.path.name)])
    evidence = [Evidence("PT_GNU_STACK RWE, or none", path) for path in bad[:4]]
    source = "glibc 2.41, release notes: dlopen no longer makes the stack executable"
    return Finding("warning", "executable", {"file": bad[0]}, evidence, source=source)
