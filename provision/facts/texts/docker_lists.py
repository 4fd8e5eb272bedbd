"""`docker ps` and `docker images`."""

from __future__ import annotations

import re

import msgspec

from provision.facts.texts.section import Section
from provision.facts.texts.table import headings

_ROWS = re.compile(r"(?:CONTAINER ID|REPOSITORY) +\S")


class DockerList(msgspec.Struct, frozen=True):
    """`docker ps` or `docker images`: rows by the tool's own headings."""

    kind: str
    rows: list[dict[str, str]]


def listed(section: Section) -> DockerList | None:
    """`docker ps` and `docker images`, known by their headings."""
    top: list[tuple[str, int]] = []
    rows: list[dict[str, str]] = []
    for line in section.lines:
        if _ROWS.match(line) and (" IMAGE " in line or " TAG " in line):
            top = headings(line, r"\S+(?: \S+)*")
        elif top and re.search(r"(?:^| )[0-9a-f]{12,64}(?: |$)", line):
            rows.append(_row(top, line))
    if len(top) < 4:  # noqa: PLR2004 - none, or the blanks between them are lost
        return None
    is_ps = top[0][0] == "CONTAINER ID"
    return DockerList("docker ps" if is_ps else "docker images", rows)


def _row(top: list[tuple[str, int]], line: str) -> dict[str, str]:
    """The text that begins under each heading; the tool pads all columns to their widest."""
    ends = [start for _, start in top[1:]] + [len(line)]
    pairs = zip(top, ends)  # noqa: B905
    found = {name: line[start:end].strip() for (name, start), end in pairs}
    return {name: text for name, text in found.items() if text}
