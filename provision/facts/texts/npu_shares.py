"""Virtual cards: `-t info-vnpu` and `-t template-info`."""

from __future__ import annotations

import re

import msgspec

from provision.facts.texts.npu_row import count
from provision.facts.texts.section import Section
from provision.facts.texts.table import cells


class Share(msgspec.Struct):
    """A virtual card."""

    vnpu_id: int
    container_id: str
    status: str
    template: str


class Shares(msgspec.Struct):
    """`-t info-vnpu`: free and total of each resource (None: not supported), and the shares."""

    kind: str
    total: int | None
    resources: dict[str, tuple[int | None, int | None]]
    vnpus: list[Share]


class Templates(msgspec.Struct):
    """`-t template-info`: what each template takes (memory in GB)."""

    kind: str
    templates: dict[str, dict[str, int]]


def shares(section: Section) -> Shares | None:
    """`-t info-vnpu`, known by its first sentence or by its count."""
    total = re.search(r"Total number of vnpu: *([0-9]{1,6})", section.text)
    if not total and "NPU resource static info" not in section.text:
        return None
    top: list[str] = []
    resources: dict[str, tuple[int | None, int | None]] = {}
    found = []
    for line in section.lines:
        words = line.replace("|", " ").split()
        if words[:2] == ["AICORE", "Memory"]:
            top = words
        elif top and len(words) == len(top) and all("/" in word for word in words):
            resources = {name: _free(word) for name, word in zip(top, words)}  # noqa: B905
        elif share := _share([cell.strip() for cell in line.strip().strip("|").split("|")]):
            found.append(share)
    stated = int(total[1]) if total else None
    return Shares("npu-smi info -t info-vnpu", stated, resources, found)


def _free(word: str) -> tuple[int | None, int | None]:
    """Free and total."""
    free, _, total = word.partition("/")
    return count(free), count(total)


def _share(row: list[str]) -> Share | None:
    """A row of the shares: id, group, container, status, template."""
    if len(row) != 5 or (number := count(row[0])) is None:  # noqa: PLR2004
        return None
    return Share(number, row[2], row[3], row[4])


def templates(section: Section) -> Templates | None:
    """`-t template-info`: two lines a template, under two lines of headings."""
    if "template info is" not in section.text:
        return None
    tops: list[list[str]] = []
    found: dict[str, dict[str, int]] = {}
    for line in section.lines:
        words = " ".join(cells(line)).split()
        if words[:2] == ["Name", "AICORE"]:
            tops = [words[1:]]
        elif len(tops) == 1 and words:
            tops.append([word for word in words if word != "GB"])
        elif len(tops) > 1 and words and words[0].startswith("vir"):
            found[words[0]] = _amounts(tops[0], words[1:])
        elif found and words:
            found[next(reversed(found))] |= _amounts(tops[1], words)
    return Templates("npu-smi info -t template-info", found)


def _amounts(names: list[str], words: list[str]) -> dict[str, int]:
    """Amounts by name; none at all when one is missing, for it could be any of them."""
    amounts = [count(word) for word in words]
    if len(amounts) != len(names):
        return {}
    return {name: amount for name, amount in zip(names, amounts) if amount is not None}  # noqa: B905
