"""A folder of outputs that somebody saved on another machine, cut into single outputs."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from provision.errors import PaddockError
from provision.facts import outputs
from provision.facts.questions import Output, questions
from provision.facts.sent_conflicts import Conflict, conflicts
from provision.facts.texts.section import Section, decode, sections
from provision.network import hide_values

_LARGEST = 8 << 20  # bytes of a file, unpacked: no output of these tools comes near
_MOST = 500  # files that are read; more are told as not recognised
_GZIP = b"\x1f\x8b"
_SNAPSHOT = re.compile(r'\s*\{\s*"schema": *"paddock/snapshot/')
# What a shell says of a program that it does not have.
_ABSENT = re.compile(
    r"(?:\S{0,60}(?:: |：)){1,4}(?:command not found|not found|未找到命令|没有那个文件或目录|"
    r"No such file or directory)(?:\.\.\.)?"
)


class Sent(msgspec.Struct, frozen=True):
    """What a folder holds. Files in `unrecognised` and `conflicts` say nothing about the machine.

    The `source` of an output is the command or path that its text shows, else the file's name; its
    `real` is the file's name. `time` is that of the newest file (seconds since 1970).
    """

    outputs: list[Output]
    unrecognised: list[str]
    conflicts: list[Conflict]
    time: float


def read(folder: Path) -> Sent:
    """The outputs in a folder and in its sub-folders.

    Raises PaddockError `bad-file` for a folder that cannot be listed, `snapshot-inside` for one
    whose only file is a snapshot.
    """
    try:
        every_file = list(_files(folder))
    except OSError as error:
        raise PaddockError("bad-file", file=folder, reason=error.strerror) from None
    files = every_file[:_MOST]
    if len(files) == 1 and _SNAPSHOT.match(_text(files[0])):
        raise PaddockError("snapshot-inside", folder=folder, file=files[0])
    names = [str(file.relative_to(folder)) for file in every_file]
    found = {name: list(_outputs(name, _text(folder / name))) for name in names[:_MOST]}
    every = [output for ours in found.values() for output in ours]
    made, bad = conflicts(every)
    return Sent(
        [output for output in every if output not in bad],
        [name for name in names if not found.get(name)],
        made,
        max((file.stat().st_mtime for file in files), default=0.0),
    )


def _files(folder: Path) -> Iterator[Path]:
    """The files in their order, those of sub-folders last; hidden ones are left out."""
    seen = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    yield from (path for path in seen if path.is_file())
    for below in (path for path in seen if path.is_dir()):
        yield from (path for path in sorted(below.iterdir())
                    if path.is_file() and not path.name.startswith("."))  # fmt: skip


def _text(file: Path) -> str:
    """The text of a file, unpacked; "" for one that cannot be read or is no text."""
    try:
        with file.open("rb") as stream:
            packed = stream.read(2) == _GZIP
            stream.seek(0)
            plain = gzip.GzipFile(fileobj=stream) if packed else stream
            data = plain.read(_LARGEST + 1)
    except (OSError, EOFError, zlib.error):
        return ""
    return (decode(data) or "") if len(data) <= _LARGEST else ""


def _outputs(name: str, text: str) -> Iterator[Output]:
    """The parts of a file that are recognised, or that answer one of our questions anyhow."""
    asked = {" ".join(one.command) for one in questions().commands}
    for section in sections(hide_values(text)):
        said = [line for line in section.lines if line.strip() and not line.startswith("#")]
        problem = "absent" if len(said) == 1 and _ABSENT.fullmatch(said[0].strip()) else ""
        output = Output(_source(section) or name, section.text, name, problem=problem)
        if outputs.parsed(output) or output.source in asked:
            yield output


def _source(section: Section) -> str:
    """The command that printed a section, as it is asked elsewhere; the path of a file."""
    command = re.sub(r"^sudo +", "", section.command.strip())
    shown = re.fullmatch(r"cat +(/\S+)", command)
    return shown[1] if shown else re.sub(r"^\S*/(?=[\w.+-]+(?: |$))", "", command)
