"""The user: `id` and `ulimit -a`."""

from __future__ import annotations

import re

import msgspec

from provision.facts.texts.section import Section

UNLIMITED = -1  # a limit that is none, told apart from None: not in the text

_ID = re.compile(
    r"(?:uid|用户id)=(?P<uid>[0-9]{1,10})(?:\((?P<user>[^)]{1,80})\))? +"
    r"(?:gid|组id)=(?P<gid>[0-9]{1,10})(?:\((?P<group>[^)]{1,80})\))?"
    r"(?: +(?:groups|组)=(?P<groups>[0-9][^=]{0,4000}?))?(?: +context=\S+)?"
)
_GROUP = re.compile(r"([0-9]{1,10})(?:\(([^)]{1,80})\))?")
_LIMIT = re.compile(  # of bash, of dash and of zsh
    r"\s*(?P<name>[A-Za-z][A-Za-z -]{2,40}?)\s+\((?:(?P<unit>[\w -]{1,24}), )?-\w\) +"
    r"(?P<value>[0-9]{1,20}|unlimited)|"
    r"(?P<name_>[a-z][a-z -]{2,24}?)(?:\((?P<unit_>[\w-]{1,20})\))? +"
    r"(?P<value_>[0-9]{1,20}|unlimited)|"
    r"-\w: (?P<name__>[a-z -]{2,30}?)(?: \((?P<unit__>[\w-]{1,20})\))? +"
    r"(?P<value__>[0-9]{1,20}|unlimited)"
)
_SIZES = {"kbytes": 1024, "512 bytes": 512, "bytes": 1}
_OPEN = ("open files", "nofiles", "file descriptors")
_LOCKED = ("max locked memory", "locked memory", "locked-in-memory size")
_PROCESSES = ("max user processes", "process", "processes")


class Group(msgspec.Struct, frozen=True):
    """A group; `name` is None where the number has none."""

    gid: int
    name: str | None


class Id(msgspec.Struct, frozen=True):
    """`id`: the user and all groups; a name is None where the number has none."""

    kind: str
    uid: int
    user: str | None
    gid: int
    group: str | None
    groups: list[Group]


class Ulimits(msgspec.Struct, frozen=True):
    """`ulimit -a`: counts, and bytes of memory; UNLIMITED is no limit, None is not printed.

    `fields` holds every limit, sizes in bytes.
    """

    kind: str
    open_files: int | None
    locked_memory: int | None
    processes: int | None
    fields: dict[str, int]


def identity(section: Section) -> Id | None:
    """`id`, which is one line."""
    for line in section.lines:
        match = _ID.fullmatch(line.strip()) if len(line) < 5000 else None  # noqa: PLR2004
        if match:
            found = _GROUP.findall(match["groups"] or "")
            groups = [Group(int(gid), name or None) for gid, name in found]
            return Id("id", int(match["uid"]), match["user"], int(match["gid"]), match["group"],
                      groups)  # fmt: skip
    return None


def ulimits(section: Section) -> Ulimits | None:
    """`ulimit -a` of bash, dash or zsh, known by three limits of which one is of open files."""
    fields: dict[str, int] = {}
    for line in section.lines:
        match = _LIMIT.fullmatch(line.strip()) if len(line) < 200 else None  # noqa: PLR2004
        if match and "blocks" not in (_part(match, "unit") or ""):  # which differ by shell
            name, value = _part(match, "name") or "", _part(match, "value") or ""
            size = _SIZES.get(_part(match, "unit") or "", 1)
            fields[name] = UNLIMITED if value == "unlimited" else int(value) * size
    openable = _first(fields, _OPEN)
    if len(fields) < 3 or openable is None:  # noqa: PLR2004
        return None
    locked, processes = _first(fields, _LOCKED), _first(fields, _PROCESSES)
    return Ulimits("ulimit -a", openable, locked, processes, fields)


def _part(match: re.Match[str], name: str) -> str | None:
    """A group of whichever shell's form fits."""
    return match[name] or match[f"{name}_"] or match[f"{name}__"]


def _first(fields: dict[str, int], names: tuple[str, ...]) -> int | None:
    """The value under the first of the names that is there."""
    return next((fields[name] for name in names if name in fields), None)
