"""The machine: system, kernel, processors, memory, container or host."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

UNLIMITED = 1 << 60  # bytes; cgroup v1 writes "no limit" as a number near 2**63


class Machine(msgspec.Struct, frozen=True):
    """What the checks need to know. Sizes in bytes; None is what could not be read.

    `libc` is a name and version such as "glibc 2.36"; `container` is the kind of container, None
    where nothing says that this is one.
    """

    system: str
    name: str
    kernel: str
    arch: str
    libc: str | None
    cpus: int | None
    memory: int | None
    memory_available: int | None
    memory_limit: int | None
    container: str | None
    root: bool


def collect(root: Path = Path("/")) -> Machine:
    """Read the machine; `root` is the prefix of /etc, /proc, /sys and /run."""
    kernel = os.uname()
    memory = meminfo(_read(root / "proc/meminfo"))
    return Machine(
        system=kernel.sysname,
        name=os_release(_read(root / "etc/os-release")).get("PRETTY_NAME", ""),
        kernel=kernel.release,
        arch=kernel.machine,
        libc=_libc(root),
        cpus=_cpus(),
        memory=memory.get("MemTotal"),
        memory_available=memory.get("MemAvailable"),
        memory_limit=memory_limit(root),
        container=container(root),
        root=os.geteuid() == 0,
    )


def os_release(text: str) -> dict[str, str]:
    """The fields of an os-release file, unquoted. Lines that are no assignment are skipped."""
    fields = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if not equals or name.startswith("#"):
            continue
        try:
            fields[name] = " ".join(shlex.split(value))
        except ValueError:  # an open quote
            fields[name] = value.strip("\"'")
    return fields


def meminfo(text: str) -> dict[str, int]:
    """The amounts of /proc/meminfo in bytes."""
    found = re.findall(r"^(\w+):\s+(\d+) kB$", text, re.MULTILINE)
    return {name: int(amount) * 1024 for name, amount in found}


def memory_limit(root: Path = Path("/")) -> int | None:
    """The lowest memory limit of this process's control groups, in bytes; None without one."""
    texts = (_read(file) for file in limit_files(root))
    limits = [int(text) for text in texts if text.isdecimal()]
    return min((limit for limit in limits if limit < UNLIMITED), default=None)


def limit_files(root: Path) -> Iterator[Path]:
    """The limit files of the process's groups and all groups above them, cgroup v1 and v2."""
    base = root / "sys/fs/cgroup"
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, group = [*line.split(":", 2), "", ""][:3]
        path = PurePosixPath(group.lstrip("/"))
        for level in (path, *path.parents):
            if controllers == "":
                yield base / level / "memory.max"
            elif "memory" in controllers.split(","):
                yield base / "memory" / level / "memory.limit_in_bytes"


def container(root: Path = Path("/")) -> str | None:
    """The kind of container by the marks that its maker leaves; None when there is none."""
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    told = re.search(r"(?:^|\0)container=([\w-]+)", _read(root / "proc/1/environ"))
    group = re.search(r"docker|kubepods|containerd|lxc|podman", _read(root / "proc/1/cgroup"))
    return told[1] if told else group[0] if group else None


def _libc(root: Path) -> str | None:
    """The C library that runs, by name and version."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (ValueError, OSError):
        return "musl" if any((root / "lib").glob("ld-musl-*")) else None


def _cpus() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read(path: Path) -> str:
    """A small text file; "" when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
