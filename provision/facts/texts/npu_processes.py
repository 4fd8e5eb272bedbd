"""`npu-smi info -t proc-mem`: processes with the memory that they hold."""

from __future__ import annotations

import re

import msgspec

from provision.facts.texts.npu_row import count
from provision.facts.texts.section import Section

_PROCESS = re.compile(
    r"Process id: {0,4}(?P<pid>[0-9]{1,12}) +Process name:(?P<name>.{0,200}?) *"
    r"Process memory\(MB\): {0,4}(?P<memory>[0-9]{1,12})?"
)


class Used(msgspec.Struct):
    """A process of `-t proc-mem`."""

    npu_id: int | None
    chip_id: int | None
    pid: int
    name: str | None
    memory_mb: int | None


class ProcessMemory(msgspec.Struct):
    """`info -t proc-mem`."""

    kind: str
    processes: list[Used]


def parse(section: Section) -> ProcessMemory | None:
    """`-t proc-mem`. The line `Chip ID` may lead or trail the processes of its block."""
    if not any(_PROCESS.search(line) for line in section.lines):
        return None
    asked = re.search(r" -i +([0-9]{1,12})\b", section.command)
    npu = int(asked[1]) if asked else None
    done: list[Used] = []
    block: list[Used] = []
    leading: int | None = None
    for line in section.lines:
        key, _, value = (part.strip() for part in line.partition(":"))
        if match := _PROCESS.search(line):
            block.append(Used(npu, leading, int(match["pid"]), match["name"].strip() or None,
                              count(match["memory"])))  # fmt: skip
        elif key == "NPU ID":
            npu = count(value)
        elif key == "Chip ID":
            trails = bool(block) and leading is None
            for used in block if trails else ():
                used.chip_id = count(value)
            leading = None if trails else count(value)
        if not line.strip() or key == "Chip ID":
            done += block
            block, leading = [], leading if line.strip() else None
    return ProcessMemory("npu-smi info -t proc-mem", done + block)
