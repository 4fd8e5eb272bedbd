"""What npu-smi says when it fails, with the meaning of DCMI's return codes."""

from __future__ import annotations

import functools
import re

import msgspec

from provision.document import Table, tables
from provision.facts.texts.section import Section
from provision.paths import IMAGES

_LINES = re.compile(
    r"^.{0,120}?(?:\bret is +(?P<ret>-?[0-9]{1,9})|"
    r"\berror code(?: is|:) +(?P<code>-[89][0-9]{3})\b|"
    r"Invalid (?:card|chip|device) id|Error parameter of -|"
    r"This device does not support (?:querying|setting)|"
    r"npu-smi(?:: |：)(?:command not found|未找到命令|not found)|"
    r"npu-smi['’]?: (?:No such file or directory|Permission denied|没有那个文件或目录|权限不够)|"
    r"npu-smi: error while loading shared libraries).{0,300}$",
    re.IGNORECASE,
)


class Code(Table, frozen=True):
    """A row of `images/dcmi_codes.toml`."""

    name: str
    value: int
    en: str
    zh: str
    source: str
    seen: str


class Failure(msgspec.Struct):
    """A line of an error; `name` and `meaning` are None for a code that is not known."""

    text: str
    code: int | None
    name: str | None
    meaning: str | None


class Failures(msgspec.Struct):
    """Nothing but errors, or errors among answers."""

    kind: str
    errors: list[Failure]


@functools.cache
def codes() -> dict[int, Code]:
    """The known return codes by their value."""
    return {code.value: code for code in tables(IMAGES / "dcmi_codes.toml", "codes", Code)}


def parse(section: Section) -> Failures | None:
    """The errors of a section."""
    short = (line for line in section.lines if len(line) < 500 and not line.startswith("#"))  # noqa: PLR2004
    found = [_failure(match) for line in short if (match := _LINES.search(line))]
    return Failures("npu-smi error", found) if found else None


def _failure(match: re.Match[str]) -> Failure:
    """One line with what its code means."""
    number = match["ret"] or match["code"]
    value = int(number) if number else None
    known = codes().get(value) if value is not None else None
    return Failure(match[0].strip(), value, known.name if known else None,
                   known.en if known else None)  # fmt: skip
