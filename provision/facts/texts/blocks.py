"""`key : value` lines in blocks, as the queries of npu-smi (`-t TOPIC`) print them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from provision.facts.texts.npu_topics import TOPICS
from provision.facts.texts.section import Section

Scalar = float | int | str | None
_CONTEXT = {"NPU ID", "Chip ID", "Chip Count", "Chip Name", "Total Count"}
_TABLES = ("proc-mem", "topo", "info-vnpu", "template-info")  # read by parsers of their own
_NUMBERED = re.compile(r"\((?:MB|MHz|W|V|C|%|page)\)$|(?:Count|Cnt|Total|Usage)$", re.IGNORECASE)
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,9})?")


class Block(msgspec.Struct):
    """The values of one chip, by their labels; "NA" is None, a label with a unit has a number."""

    npu_id: int | None
    chip_id: int | None
    chip_name: str | None
    values: dict[str, Scalar]


class Blocks(msgspec.Struct):
    """The answer to one query; `kind` is its command."""

    kind: str
    blocks: list[Block]


def pairs(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """The blocks as printed. One ends at a blank line, at a line of another form, and before a
    label that it has already (the output may have lost its blank lines)."""
    block: dict[str, str] = {}
    ended = False
    for line in lines:
        key, colon, value = line.replace("：", ":", 1).partition(":")
        key, value = key.strip(), value.strip()
        if colon and not key and block:  # the text of the last label goes on
            last = next(reversed(block))
            block[last] = f"{block[last]}; {value}" if value else block[last]
            continue
        is_pair = bool(colon) and len(key) <= 60 and key[:1].isalpha()  # noqa: PLR2004
        other = not is_pair and bool(line.strip())
        if block and (other or (is_pair and (ended or key in block))):
            yield block
            block = {}
        ended = not line.strip()
        if is_pair:
            block[key] = value
        elif other:
            yield {}  # what follows has nothing to do with what came before
    if block:
        yield block


def parse(section: Section) -> list[Blocks]:
    """The answers of a section, one for each topic in a row."""
    if section.command and "npu-smi" not in section.command:
        return []
    asked = re.search(r" -t +([\w-]+)| upgrade .*-b +(\w+)", section.command)
    topic = (asked[1] or asked[2]) if asked else None
    if topic in _TABLES:
        return []
    found: list[Blocks] = []
    npu = _option(section.command, "i")
    for block in pairs(section.lines):
        npu = _id(block.get("NPU ID")) if "NPU ID" in block else npu
        labels = set(block) - _CONTEXT
        topic = topic if asked else _topic(labels, topic if block else None)
        kind = _kind(topic)
        if not labels or not topic:
            continue
        if not found or found[-1].kind != kind:
            found.append(Blocks(kind, []))
        found[-1].blocks.append(_block(block, npu, _option(section.command, "c")))
    return found


def _kind(topic: str | None) -> str:
    """The command that asks for a topic."""
    return "npu-smi upgrade -b vrd" if topic == "vrd" else f"npu-smi info -t {topic}"


def _topic(labels: set[str], before: str | None) -> str | None:
    """The topic of a block's labels; one without a telling label belongs to the block before."""
    if labels == {"NPU Real-time Power(W)"} and before != "common":
        return "power"
    if "VRD Name" in labels or "VRD Count" in labels:
        return "vrd"
    return next((name for name, known in TOPICS if labels & set(known)), before)


def _block(block: dict[str, str], npu: int | None, chip: int | None) -> Block:
    """A block with typed values."""
    values = {key: scalar(key, value) for key, value in block.items() if key not in _CONTEXT}
    own = _id(block.get("Chip ID"))
    return Block(npu, chip if own is None else own, block.get("Chip Name"), values)


def scalar(label: str, value: str) -> Scalar:
    """A value: None for `NA`, a number where the label counts something, else the words."""
    if value.upper() in ("", "-", "NA", "N/A"):
        return None
    if _NUMBERED.search(label.replace(" (", "(")) and _NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    return value


def _id(value: str | None) -> int | None:
    """An id as printed."""
    return int(value) if value and re.fullmatch("[0-9]{1,12}", value) else None


def _option(command: str, letter: str) -> int | None:
    """The number after `-i` or `-c` of a command."""
    match = re.search(rf" -{letter} +([0-9]{{1,12}})\b", command)
    return int(match[1]) if match else None
