"""Device nodes of the vendors in a listing: `ls /dev/...`, `ls -l /dev`."""

from __future__ import annotations

import fnmatch
import functools
import re

import msgspec

from provision.facts.nodes import catalogue
from provision.facts.texts.section import Section

_LONG = re.compile(
    r"\s*(?:[0-9][0-9.]{0,9}[KMG]? +)?(?P<type>[cbdlps-])(?P<mode>[rwxsStT-]{9})[.+@]? +"
    r"[0-9]{1,6} +(?P<owner>\S{1,80}) +(?P<group>\S{1,80}) +"
    r"(?:(?P<major>[0-9]{1,6}), *(?P<minor>[0-9]{1,8})|[0-9]{1,16}) +"
    r"(?:\S.{4,40}? +)?(?P<path>[\w./-]{1,200})(?: -> (?P<target>\S{1,200}))?"
)
_KINDS = {"c": "char", "b": "block", "d": "dir", "l": "link", "p": "fifo", "s": "socket"}


class Node(msgspec.Struct, frozen=True):
    """A node: `kind` is char, block, dir, link, fifo, socket or file; `mode` in octal ("0660")."""

    path: str
    kind: str
    mode: str
    owner: str
    group: str
    major: int | None
    minor: int | None
    target: str | None = None


class Nodes(msgspec.Struct, frozen=True):
    """Device nodes that `ls` found; `details` only where it printed them (`ls -l`)."""

    kind: str
    nodes: list[str]
    details: list[Node] = []


def nodes(section: Section) -> Nodes | None:
    """The vendors' nodes of a listing, in any of its forms; those of others are left out."""
    lines = [line for line in section.lines if line.strip() and len(line) < 2000]  # noqa: PLR2004
    rows = [match for line in lines if (match := _LONG.fullmatch(line))]
    details = [_node(match) for match in rows if _known(_path(match))]
    if details or _is_whole(rows):
        return Nodes("device nodes", [node.path for node in details], details)
    words = [word for line in lines for word in line.split() if word.startswith("/dev/")]
    found = list(dict.fromkeys(filter(_known, words)))
    is_list = section.command.startswith("ls") or all(
        line.split()[-1].startswith("/dev/") for line in lines
    )
    return Nodes("device nodes", found) if found and is_list else None


@functools.cache
def _patterns() -> re.Pattern[str]:
    """The names of the vendors' nodes below /dev, as the catalogue has them."""
    return re.compile("|".join(fnmatch.translate(p) for r in catalogue() for p in r.patterns))


def _known(path: str) -> bool:
    """Whether a path is a vendor's node."""
    name = path.removeprefix("/dev/")
    return path != name and len(name) < 100 and bool(_patterns().match(name))  # noqa: PLR2004


def _path(match: re.Match[str]) -> str:
    """The whole path of a row, which may lack the folder that was listed."""
    path = match["path"].removeprefix("./")
    if path == "vfio" and match["type"] == "c":  # the folder /dev/vfio was listed
        return "/dev/vfio/vfio"
    return path if path.startswith("/") else f"/dev/{path}"


def _is_whole(rows: list[re.Match[str]]) -> bool:
    """Whether this is `ls -l /dev` of a machine, which then has none of the vendors' nodes."""
    return {"/dev/null", "/dev/zero", "/dev/urandom"} <= {_path(match) for match in rows}


def _node(match: re.Match[str]) -> Node:
    """A row of `ls -l`."""
    major, minor = match["major"], match["minor"]
    return Node(
        _path(match), _KINDS.get(match["type"], "file"), _octal(match["mode"]), match["owner"],
        match["group"], int(major) if major else None, int(minor) if minor else None,
        match["target"],
    )  # fmt: skip


def _octal(letters: str) -> str:
    """`rw-rw----` as "0660"; the first digit is of set-id and sticky bits."""
    digits = [sum(bit for bit, letter in zip((4, 2, 1), letters[i : i + 3], strict=True)
                  if letter not in "-ST") for i in (0, 3, 6)]  # fmt: skip
    special = sum(bit for bit, letter in zip((4, 2, 1), letters[2::3], strict=True)
                  if letter in "sStT")  # fmt: skip
    return f"{special}{''.join(map(str, digits))}"
