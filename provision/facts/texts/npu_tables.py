"""What npu-smi measures again and again (`info watch`), its topology, its help."""

from __future__ import annotations

import re

import msgspec

from provision.facts.texts.blocks import Scalar
from provision.facts.texts.section import Section
from provision.facts.texts.table import headings, under

_WATCHED = r"[A-Za-z][^()]{0,40}\([^()]{1,12}\)"  # headings may stand one blank apart
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,4})?")


class Samples(msgspec.Struct):
    """`info watch`: a row a sample, by the tool's own headings."""

    kind: str
    rows: list[dict[str, Scalar]]


class Links(msgspec.Struct):
    """A card of `-t topo`: how it reaches the others, and the CPUs near it."""

    npu_id: int
    links: dict[str, str]
    cpu_affinity: str | None


class Topology(msgspec.Struct):
    """`info -t topo`."""

    kind: str
    npus: list[Links]


class Help(msgspec.Struct):
    """The help of npu-smi."""

    kind: str


def watch(section: Section) -> Samples | None:
    """`info watch`, known by its headings."""
    top: list[tuple[str, int]] = []
    rows: list[dict[str, Scalar]] = []
    for line in section.lines:
        if line.lstrip().startswith("NpuID(Idx)"):
            top = headings(line, _WATCHED)
        elif top and re.match(r" *[0-9]", line):
            rows.append({name: _scalar(word) for name, word in under(top, line).items()})
    return Samples("npu-smi info watch", rows) if top else None


def _scalar(word: str) -> Scalar:
    """A number of a sample, None for what is none."""
    if not _NUMBER.fullmatch(word):
        return None
    return float(word) if "." in word else int(word)


def topology(section: Section) -> Topology | None:
    """`-t topo`: a matrix of words. A row that lacks one is left out: it could stand anywhere."""
    top: list[str] = []
    npus = []
    for line in section.lines:
        words = line.split()
        if len(words) > 1 and all(re.fullmatch("NPU[0-9]{1,4}", word) for word in words[:2]):
            top = [word for word in words if word.startswith("NPU")]
        elif top and words and re.fullmatch("NPU[0-9]{1,4}", words[0]):
            links = dict(zip(top, words[1:], strict=False))
            if len(words) in (len(top) + 1, len(top) + 2):
                near = words[len(top) + 1] if len(words) > len(top) + 1 else None
                npus.append(Links(int(words[0][3:]), links, near))
    return Topology("npu-smi info -t topo", npus) if npus else None


def usage(section: Section) -> Help | None:
    """The help."""
    known = re.search(r"Usage: npu-smi ", section.text) and re.search(
        r"^ *(?:npu-smi Command|Options) *:", section.text, re.MULTILINE
    )
    return Help("npu-smi -h") if known else None
