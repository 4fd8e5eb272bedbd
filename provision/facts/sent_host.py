"""The system of a machine by outputs that somebody sent: kernel, memory, limits, device nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeVar

from provision.facts import kernel, kernel_modules, limits, machine, nodes, outputs
from provision.facts.questions import Output
from provision.facts.snapshot import UNSENT, Unread
from provision.facts.texts import accounts as users
from provision.facts.texts import disks, listing, memory, modules, notes, system

T = TypeVar("T")


def every(sent: list[Output], kind: type[T]) -> list[T]:
    """All values of a kind that were sent."""
    return [value for value, _ in outputs.found(sent, kind)]


def first(values: Iterator[T | None]) -> T | None:
    """The first value that is there."""
    return next((value for value in values if value is not None), None)


def vendors(sent: list[Output]) -> set[str]:
    """The vendors whose modules, device nodes or lines of the kernel's log are shown."""
    shown = {one.vendor for one in _modules(sent, _loaded(sent)) or ()}
    shown |= {name for log in every(sent, modules.KernelLog) for name in modules.vendors(log)}
    paths = [path for one in every(sent, listing.Nodes) for path in one.nodes]
    rows = nodes.catalogue()
    owners = (nodes.vendor_of(path.removeprefix("/dev/"), rows) for path in paths)
    return shown | {owner for owner in owners if owner}


def machine_of(sent: list[Output]) -> machine.Machine | Unread:
    """The machine, where `uname` told at least its architecture."""
    names = every(sent, system.Uname)
    arch = first(one.machine for one in names)
    if arch is None:
        return UNSENT
    amounts, libc = every(sent, memory.Memory), every(sent, system.Libc)
    identity = every(sent, users.Id)
    return machine.Machine(
        system="Linux",
        name=first(one.name for one in every(sent, system.OsRelease)) or "",
        kernel=first(one.release for one in names) or "",
        arch="aarch64" if arch == "arm64" else arch,
        libc=f"{libc[0].name} {libc[0].version}" if libc else None,
        cpus=None,
        memory=first(one.total for one in amounts),
        memory_available=first(one.available for one in amounts),
        memory_limit=None,
        container=None,
        root=bool(identity) and identity[0].uid == 0,
    )


def limits_of(sent: list[Output]) -> limits.Limits | Unread:
    """The limits by `ulimit -a`, `df` of /dev/shm and /proc/meminfo."""
    ulimits = first(iter(every(sent, users.Ulimits)))
    mounts = [disk for one in every(sent, disks.Disks) for disk in one.disks]
    shm = next((disk for disk in mounts if disk.mount == "/dev/shm"), None)  # noqa: S108
    pages = next((one for one in every(sent, memory.Memory) if one.hugepage_size), None)
    if not (ulimits or shm or pages):
        return UNSENT
    return limits.Limits(
        open_files=limits.Limit(ulimits.open_files if ulimits else None, None),
        locked_memory=limits.Limit(ulimits.locked_memory if ulimits else None, None),
        processes=limits.Limit(ulimits.processes if ulimits else None, None),
        shm_size=shm.size if shm else None,
        shm_free=shm.free if shm else None,
        hugepages=[limits.HugePages(pages.hugepage_size or 0, pages.hugepages_total,
                                    pages.hugepages_free)] if pages else None,
        cpu_quota=None,
        numa_balancing=None,
    )  # fmt: skip


def kernel_of(sent: list[Output]) -> kernel.Kernel | Unread:
    """The running kernel and its modules by `uname` and `lsmod`."""
    release = first(one.release for one in every(sent, system.Uname))
    names = _loaded(sent)
    loaded = _modules(sent, names)
    if release is None and loaded is None:
        return UNSENT
    return kernel.Kernel(
        release or "?", None, None, None, loaded, None, None, None,
        None if names is None else sorted(n for n in names if n.startswith(("mdev", "vfio"))),
    )  # fmt: skip


def _loaded(sent: list[Output]) -> list[str] | None:
    """All loaded modules; None without a whole `lsmod`."""
    whole = [(one, output) for one, output in outputs.found(sent, modules.Modules)
             if "|" not in output.source and "Module" in output.text]  # fmt: skip
    return [module.name for module in whole[0][0].modules] if whole else None


def _modules(sent: list[Output], names: list[str] | None) -> list[kernel_modules.Module] | None:
    """The vendors' modules. A version file in /sys/module shows that its module is loaded."""
    versions = {one.module: one.version for one in every(sent, notes.Module)}
    if names is None and not versions:
        return None
    rows = kernel_modules.catalogue()
    owners = {name: kernel_modules.vendor(name, rows) for name in [*(names or ()), *versions]}
    return [kernel_modules.Module(name, owner, versions.get(name))
            for name, owner in owners.items() if owner]  # fmt: skip


def nodes_of(sent: list[Output]) -> list[nodes.Node] | Unread:
    """The device nodes by `ls -l` of the whole of /dev, for the user that `id` shows.

    A listing of some of them tells nothing about the others.
    """
    whole = [one for one, output in outputs.found(sent, listing.Nodes)
             if re.search(r"^c.* (?:/dev/)?null$", output.text, re.MULTILINE)]  # fmt: skip
    identity = first(iter(every(sent, users.Id)))
    if not whole or identity is None:
        return UNSENT
    rows = nodes.catalogue()
    owners = {node: nodes.vendor_of(node.path.removeprefix("/dev/"), rows)
              for node in whole[0].details}  # fmt: skip
    return [_node(node, owner, identity) for node, owner in owners.items() if owner]


def _node(row: listing.Node, vendor: str, user: users.Id) -> nodes.Node:
    """A node; of a link it is not known what is behind it."""
    kinds: dict[str, nodes.Kind] = {"char": "char", "block": "block", "dir": "dir", "file": "file"}
    if row.kind not in kinds:
        return nodes.Node(row.path, vendor, "unread")
    bits = _bits(row, user)
    return nodes.Node(
        row.path, vendor, kinds[row.kind], row.mode, owner=row.owner, group=row.group,
        readable=bool(bits & 4), writable=bool(bits & 2), major=row.major, minor=row.minor,
    )  # fmt: skip


def _bits(row: listing.Node, user: users.Id) -> int:
    """What the mode gives to a user: 4 to read, 2 to write."""
    mode = int(row.mode, 8)
    groups = {user.group, *(group.name for group in user.groups)}
    if user.uid == 0:
        return 6
    if row.owner == user.user:
        return mode >> 6
    return mode >> 3 if row.group in groups else mode
