"""The accelerators' device nodes, who may use them, and which processes hold them open."""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from provision.document import Table, tables
from provision.facts import accounts, small
from provision.paths import IMAGES

Kind = Literal["char", "block", "dir", "file", "other", "broken link", "unread"]
_MOST_NODES = 2000
_MOST_LINKS = 500_000  # open files that are looked at; a machine with more is told as incomplete


class Row(Table, frozen=True):
    """A row of `images/device_nodes.toml`: patterns of names below /dev."""

    vendor: str
    patterns: list[str]
    source: str
    seen: str


class Node(msgspec.Struct, frozen=True):
    """A path where a device should be.

    `kind` is "dir" where a wrong mount made Docker create a folder (/dev/vfio is rightly one).
    `mode` is octal ("0660"); all values are those behind a link, and None for a broken link and for
    what may not be looked at. `readable` and `writable` are what the permissions give this process:
    a container's device rules can still refuse. `major` and `minor` are None for what is no device.
    """

    path: str
    vendor: str
    kind: Kind
    mode: str | None = None
    uid: int | None = None
    gid: int | None = None
    owner: str | None = None
    group: str | None = None
    readable: bool | None = None
    writable: bool | None = None
    major: int | None = None
    minor: int | None = None


class Holder(msgspec.Struct, frozen=True):
    """A process that has a node open; `name` is None where it cannot be read."""

    path: str
    pid: int
    name: str | None


class Holders(msgspec.Struct, frozen=True):
    """The processes found. `complete` is False when some could not be looked at: then one that is
    not listed may still hold a node. Only processes of this container are seen in a container.
    """

    holders: list[Holder]
    complete: bool


def catalogue() -> list[Row]:
    """The known names."""
    return tables(IMAGES / "device_nodes.toml", "rows", Row)


def collect(root: Path = Path("/")) -> list[Node]:
    """The nodes that are there, sorted by path; `root` is the prefix of /dev and /etc."""
    rows = catalogue()
    users = accounts.names_by_number(accounts.rows(root / "etc/passwd", accounts.USER) or [])
    groups = accounts.names_by_number(accounts.rows(root / "etc/group", accounts.GROUP) or [])
    names = sorted(_names(root / "dev"), key=_natural)
    pairs = [(name, owner) for name in names if (owner := vendor_of(name, rows))]
    return [_node(root, name, owner, users, groups) for name, owner in pairs[:_MOST_NODES]]


def holders(root: Path = Path("/")) -> Holders:
    """The processes that hold one of these nodes open, by the links below /proc/PID/fd."""
    rows = catalogue()
    pids = [name for name in small.names(root / "proc") or () if re.fullmatch("[0-9]{1,10}", name)]
    found: list[Holder] = []
    # Each machine and container has a process 1: where it is not shown, others are hidden as well.
    complete, left = "1" in pids, _MOST_LINKS
    for pid in pids:
        folder = root / "proc" / pid
        links = small.names(folder / "fd", left + 1)
        # A process that ended in between is no gap.
        complete &= links is not None or small.is_folder(folder) is False
        left -= len(links or ())
        if left < 0:
            complete = False
            break
        paths = set(_held(folder / "fd", links or [], rows))
        name = small.text(folder / "comm", 256) if paths else None
        found += [Holder(path, int(pid), name) for path in paths]
    return Holders(sorted(found, key=lambda one: (_natural(one.path), one.pid)), complete)


def _names(folder: Path) -> Iterator[str]:
    """What is in /dev, and in its folder vfio."""
    yield from small.names(folder) or ()
    yield from (f"vfio/{name}" for name in small.names(folder / "vfio") or ())


def vendor_of(name: str, rows: list[Row]) -> str | None:
    """Whose node this is; None for any other. A pattern without `/` matches no name with one."""
    for row in rows:
        for pattern in row.patterns:
            if fnmatch.fnmatchcase(name, pattern) and name.count("/") == pattern.count("/"):
                return row.vendor
    return None


def _natural(name: str) -> list[tuple[int, str]]:
    """A key by which davinci10 comes after davinci9."""
    parts = re.findall(r"[0-9]{1,9}|[^0-9]+", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _node(
    root: Path, name: str, vendor: str, users: dict[int, str], groups: dict[int, str]
) -> Node:
    """One node."""
    place, path = root / "dev" / name, f"/dev/{small.shown(name)}"
    try:
        seen = place.stat()
    except FileNotFoundError:
        return Node(path, vendor, "broken link")
    except OSError:
        return Node(path, vendor, "unread")
    kind = _kind(seen.st_mode)
    device = kind in ("char", "block")
    return Node(
        path=path,
        vendor=vendor,
        kind=kind,
        mode=f"{stat.S_IMODE(seen.st_mode):04o}",
        uid=seen.st_uid,
        gid=seen.st_gid,
        owner=users.get(seen.st_uid),
        group=groups.get(seen.st_gid),
        readable=_may(place, os.R_OK),
        writable=_may(place, os.W_OK),
        major=os.major(seen.st_rdev) if device else None,
        minor=os.minor(seen.st_rdev) if device else None,
    )


def _kind(mode: int) -> Kind:
    """What a path is."""
    kinds: dict[int, Kind] = {
        stat.S_IFCHR: "char", stat.S_IFBLK: "block", stat.S_IFDIR: "dir", stat.S_IFREG: "file",
    }  # fmt: skip
    return kinds.get(stat.S_IFMT(mode), "other")


def _may(path: Path, what: int) -> bool:
    """Whether the permissions let this process, as what it now acts, do this."""
    return os.access(path, what, effective_ids=os.access in os.supports_effective_ids)


def _held(folder: Path, links: list[str], rows: list[Row]) -> Iterator[str]:
    """The nodes among the open files of one process."""
    for link in links:
        try:
            target = os.fspath((folder / link).readlink())
        except (OSError, ValueError):  # closed in between
            continue
        if not target.startswith("/dev/"):
            continue
        name = target.removesuffix(" (deleted)").removeprefix("/dev/")
        if vendor_of(name, rows):
            yield f"/dev/{small.shown(name)}"
