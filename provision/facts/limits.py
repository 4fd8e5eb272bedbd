"""What the system lets this process use: ulimits, shared memory, huge pages, processors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from provision.facts import small

UNLIMITED = -1  # a limit that was read, and is none


class Limit(msgspec.Struct, frozen=True):
    """A ulimit in force. UNLIMITED (-1) where there is none, None where it could not be read."""

    soft: int | None
    hard: int | None


class HugePages(msgspec.Struct, frozen=True):
    """The huge pages of one size (bytes): how many there are, and how many are free."""

    size: int
    total: int | None
    free: int | None


class Limits(msgspec.Struct, frozen=True):
    """The limits of this process and of the machine. Sizes in bytes, None what cannot be read.

    `open_files` and `processes` are counts, `locked_memory` is in bytes. `shm_size` and
    `shm_free` are those of the file system that holds /dev/shm. `hugepages` has an entry for each
    size, the smallest first. `cpu_quota` is in processors (1.5), None where no quota is known.
    `numa_balancing` is the kernel's own number: 0 off, 1 on, 2 memory tiers (sysctl/kernel.rst).
    """

    open_files: Limit
    locked_memory: Limit
    processes: Limit
    shm_size: int | None
    shm_free: int | None
    hugepages: list[HugePages] | None
    cpu_quota: float | None
    numa_balancing: int | None


def collect(root: Path = Path("/")) -> Limits:
    """Read the limits; `root` is the prefix of /proc, /sys and /dev."""
    ulimits = small.text(root / "proc/self/limits") or ""
    size, free = _shm(root / "dev/shm")
    return Limits(
        open_files=ulimit(ulimits, "open files"),
        locked_memory=ulimit(ulimits, "locked memory"),
        processes=ulimit(ulimits, "processes"),
        shm_size=size,
        shm_free=free,
        hugepages=_hugepages(root),
        cpu_quota=_cpu_quota(root),
        numa_balancing=small.number(root / "proc/sys/kernel/numa_balancing"),
    )


def ulimit(text: str, name: str) -> Limit:
    """One limit of /proc/self/limits, by its name there without the leading `Max`."""
    value = "([0-9]{1,20}|unlimited)"
    found = re.search(rf"^Max {name} +{value} +{value}(?: |$)", text, re.MULTILINE)
    if not found:
        return Limit(None, None)
    soft, hard = (UNLIMITED if one == "unlimited" else int(one) for one in found.groups())
    return Limit(soft, hard)


def _shm(folder: Path) -> tuple[int | None, int | None]:
    """Size and free room; a file system that tells no size (0 blocks) tells nothing."""
    try:
        room = os.statvfs(folder)
    except OSError:
        return None, None
    if not room.f_blocks:
        return None, None
    return room.f_blocks * room.f_frsize, room.f_bavail * room.f_frsize


def _hugepages(root: Path) -> list[HugePages] | None:
    """All sizes from sysfs; only the default size where sysfs is not there."""
    base = root / "sys/kernel/mm/hugepages"
    found = []
    for name in small.names(base) or ():
        if size := re.fullmatch(r"hugepages-([0-9]{1,12})kB", name):
            total = small.number(base / name / "nr_hugepages")
            free = small.number(base / name / "free_hugepages")
            found.append(HugePages(int(size[1]) * 1024, total, free))
    return sorted(found, key=lambda pages: pages.size) or _default_hugepages(root)


def _default_hugepages(root: Path) -> list[HugePages] | None:
    """The pages of the default size, by /proc/meminfo."""
    text = small.text(root / "proc/meminfo") or ""
    found = dict(re.findall(r"^(Huge\w{1,30}): +([0-9]{1,15})(?: kB)?$", text, re.MULTILINE))
    amounts = {name: int(amount) for name, amount in found.items()}
    if "Hugepagesize" not in amounts:
        return None
    size = amounts["Hugepagesize"] * 1024
    return [HugePages(size, amounts.get("HugePages_Total"), amounts.get("HugePages_Free"))]


def _cpu_quota(root: Path) -> float | None:
    """The lowest quota of this process's control groups and all above them."""
    return min((quota for quota in _quotas(root) if quota), default=None)


def _quotas(root: Path) -> Iterator[float | None]:
    """The quotas on the way up, cgroup v1 and v2. Source: the kernel's cgroup-v2 and sched-bwc."""
    base = root / "sys/fs/cgroup"
    for line in (small.text(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, group = [*line.split(":", 2), "", ""][:3]
        path = PurePosixPath(group.lstrip("/"))
        levels = [level for level in (path, *path.parents) if ".." not in level.parts]
        if controllers == "":
            yield from (_share(small.text(base / level / "cpu.max", 64)) for level in levels)
        elif "cpu" in controllers.split(","):
            folders = [base / top / level for top in {controllers, "cpu"} for level in levels]
            yield from map(_old_quota, folders)


def _old_quota(folder: Path) -> float | None:
    """The quota of one group of cgroup v1; -1 means that it has none."""
    quota, period = (small.text(folder / f"cpu.cfs_{name}_us", 64) for name in ("quota", "period"))
    return _share(f"{quota} {period}")


def _share(text: str | None) -> float | None:
    """Processors by `QUOTA PERIOD` in microseconds; None for `max`, -1 and what is damaged."""
    found = re.fullmatch(r"([0-9]{1,18}) ([0-9]{1,18})", text or "")
    return int(found[1]) / int(found[2]) if found and int(found[2]) else None
