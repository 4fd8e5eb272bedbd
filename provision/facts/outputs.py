"""What the vendors' tools and files of a machine say, kept as texts; the parsers read them later.

So a snapshot of today can be read by better parsers of tomorrow, and a folder of outputs that
somebody sent by mail is a machine like any other.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from provision.facts import small
from provision.facts.questions import Command, Output, ask, complete, concerns, questions
from provision.facts.together import together
from provision.network import hide_values

T = TypeVar("T")
_LARGEST = 256 * 1024  # bytes of a file: a version file has a few hundred, of a log the end tells
_FILES = 64  # of one pattern


def collect(devices: Iterable[str], root: Path = Path("/")) -> list[Output]:
    """Ask everything that is about these device types, side by side; then about cards in trouble.

    A program that gave no answer within its limit is not asked again.
    """
    asked = questions()
    wanted = set(devices)
    about = [one for one in asked.commands if concerns(one.device, wanted)]
    commands = [one for one in about if complete(one)]
    first = [one for one in commands if "{npu}" not in one.command]
    outputs = together([functools.partial(_answer, one) for one in first])
    more = [one for one in commands if one not in first and not _silent(outputs, one.command[0])]
    ids = unwell(outputs)
    outputs += together([functools.partial(_answer, one, npu) for one in more for npu in ids])
    files = [one.file for one in asked.files if concerns(one.device, wanted)]
    return outputs + list(_files(files, root))


def _answer(question: Command, npu: int | None = None) -> Output:
    """The answer of one program, read while the slower ones are still at work."""
    output = ask(question, npu)
    parsed(output)
    return output


def found(outputs: Iterable[Output], kind: type[T]) -> Iterator[tuple[T, Output]]:
    """What was read of one kind, such as `versions.VersionFile`, each with its output."""
    for output in outputs:
        for part in parsed(output):
            if isinstance(part, kind):
                yield part, output


@functools.lru_cache(maxsize=512)
def parsed(output: Output) -> tuple[Any, ...]:
    """All that the parsers know of an output; its command helps them to tell what it is."""
    from provision.facts.texts.reading import parts

    named = output.source == output.real  # a file, here or among those that somebody sent
    command = f"cat {output.source}" if named or output.source.startswith("/") else output.source
    texts = [f"$ {command}\n{output.text}"]
    if named and not output.source.startswith("/"):
        texts.insert(0, output.text)  # a name that somebody gave tells little
    told = ([part for part in parts(text) if part.kind is not None] for text in texts)
    return tuple(next(filter(None, told), ()))


def unwell(outputs: Iterable[Output]) -> list[int]:
    """The ids of NPUs that are not in good health by `npu-smi info`."""
    from provision.facts.cards import well
    from provision.facts.texts.npu_values import NpuInfo

    cards = [card for table, _ in found(outputs, NpuInfo) for card in table.cards]
    return sorted({card.npu_id for card in cards if well(card.health) is False})


def _silent(outputs: Iterable[Output], program: str) -> bool:
    return any(one.problem == "silent" and one.source.split()[0] == program for one in outputs)


def _files(patterns: Iterable[str], root: Path) -> Iterator[Output]:
    """The files of these patterns, each real file once."""
    seen: set[str] = set()
    for pattern in patterns:
        path = os.path.expandvars(pattern)
        if "$" in path:  # the variable is not set
            continue
        for file in sorted(root.glob(path.lstrip("/")))[:_FILES]:
            real = os.path.realpath(file)
            # One that this user may not look at is tried all the same: its answer says so.
            if real not in seen and small.is_file(file) is not False:
                seen.add(real)
                yield _file(file, root, real)


def _file(file: Path, root: Path, real: str) -> Output:
    source = "/" + str(file.relative_to(root))
    try:
        with file.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END) if stream.seekable() else 0
            stream.seek(max(0, size - _LARGEST))
            data = stream.read(_LARGEST)
    except OSError as error:
        return Output(source, str(error.strerror), real, problem="unreadable")
    shown = re.sub(r"[^\S\n]+$", "", hide_values(data.decode("utf-8", "replace")), flags=re.M)
    return Output(source, shown, real)
