"""The process into which a library would be loaded, and the C and C++ libraries that it has."""

from __future__ import annotations

import contextlib
import platform
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from provision.facts.linking import elf, elf_versions
from provision.facts.linking.elf_file import DAMAGED, ElfFile
from provision.facts.linking.loader import Process


class Host(msgspec.Struct, frozen=True):
    """A program ("" when it is not known) and the libraries that it has loaded by itself by then.

    `nearby` are folders where a library may lie although the loader does not look there.
    """

    program: str = ""
    loaded: list[str] = []
    nearby: list[str] = []


class Levels(msgspec.Struct, frozen=True):
    """The highest symbol versions that a library provides, e.g. `2.36`, `3.4.30`, `1.3.13`."""

    file: str
    glibc: str | None = None
    glibcxx: str | None = None
    cxxabi: str | None = None


class Runtime(msgspec.Struct, frozen=True):
    """The C and C++ libraries that a program gets; None where there is none.

    `conda` is the C++ library of the program's conda prefix, whether it is in force or not.
    """

    libc: Levels | None
    libstdcxx: Levels | None
    conda: Levels | None


NOBODY = Host()


def paddle_host(site_packages: Path, python: Path) -> Host:
    """The process of an interpreter that has imported the Paddle of this folder."""
    paddle = site_packages / "paddle"
    core = [path for name in ("base", "fluid") for path in (paddle / name).glob("libpaddle*.so")]
    folders = [str(paddle / name) for name in ("libs", "base") if (paddle / name).is_dir()]
    return Host(str(python.resolve()), [str(path) for path in core], folders)


def start(variables: Mapping[str, str], root: Path, host: Host) -> Process:
    """The process with all that it has loaded. What cannot be read of it is left out."""
    program = _program(host)
    process = Process(variables, root, program.arch if program else platform.machine())
    if program:
        with contextlib.suppress(*DAMAGED):
            process.program = process.load(program)
    preloaded = re.split("[: ]", variables.get("LD_PRELOAD", ""))
    for path in [Path(text) for text in (*preloaded, *host.loaded) if "/" in text]:
        with contextlib.suppress(OSError, *DAMAGED):
            made = process.load(elf.checked(ElfFile(path), process.arch))
            process.preloaded += [made] if str(path) in preloaded else []
    return process


def _program(host: Host) -> ElfFile | None:
    """The program; None when it is not known or is a script."""
    if not host.program:
        return None
    try:
        return ElfFile(Path(host.program))
    except (OSError, *DAMAGED):
        return None


def runtime(variables: Mapping[str, str], root: Path = Path("/"), host: Host = NOBODY) -> Runtime:
    """The C and C++ libraries of a process, or of this machine when no program is given.

    `variables` and `root` are those of `linkage.collect`.
    """
    process = start(variables, root, host)
    libc, libstdcxx = (process.find(name).path for name in ("libc.so.6", "libstdc++.so.6"))
    prefix = Path(host.program).parent.parent if host.program else Path()
    conda = prefix / "lib/libstdc++.so.6"
    own = levels(conda) if host.program and (prefix / "conda-meta").is_dir() else None
    return Runtime(levels(Path(libc)), levels(Path(libstdcxx)), own)


def levels(path: Path) -> Levels | None:
    """What a C or C++ library provides; None for one that cannot be read."""
    try:
        names = elf_versions.defined_versions(ElfFile(path))
    except (OSError, *DAMAGED):
        return None
    kinds = ("GLIBC", "GLIBCXX", "CXXABI")
    return Levels(str(path), *(elf_versions.highest(kind, names) for kind in kinds))
