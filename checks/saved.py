"""`read`: saved outputs of the vendors' tools, told apart and shown as tables or JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from provision.amounts import size
from provision.console import show, show_json
from provision.errors import SOUND, UNKNOWN, PaddockError
from provision.facts.texts.reading import read
from provision.facts.texts.section import decode
from provision.several import split
from provision.stream import say
from provision.words import text

_LARGEST = 8 << 20  # bytes: no output of these tools comes near


def show_files(files: str, *, json: bool) -> int:
    """Show each file (names joined as by `gather`). Returns the exit status.

    SOUND, UNKNOWN when one was not recognised, the status of `bad-file` when one cannot be read;
    the others are shown all the same.
    """
    names = split(files)
    if not names:
        raise PaddockError("bad-option", option="FILE", value="", wanted=text("wanted.files"))
    found = [_read(name) for name in names]
    if json:
        show_json(found[0][1] if len(found) == 1 else [value for _, value in found])
    for error, value in found:
        for line in _lines(value, error) if not json or error else ():
            say(sys.stderr, line) if error else show(line)
    errors = [error.status for error, _ in found if error]
    unread = any(value.get("kind") is None for _, value in found)
    return errors[0] if errors else UNKNOWN if unread else SOUND


def _read(name: str) -> tuple[PaddockError | None, dict[str, Any]]:
    """What a file says, or why it cannot be read."""
    try:
        value = read(_text(name))
    except PaddockError as error:
        return error, {"schema": "paddock/error/1", "file": name, **error.to_json()}
    return None, {"schema": value.pop("schema"), "file": name, **value}


def _text(name: str) -> str:
    """The text of a file or of standard input. Raises PaddockError `bad-file`."""
    try:
        data = _bytes(name)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PaddockError("bad-file", file=name, reason=reason) from error
    if len(data) > _LARGEST:
        raise PaddockError("bad-file", file=name, reason=text("too-large", size=size(_LARGEST)))
    decoded = decode(data)
    if decoded is None:
        raise PaddockError("bad-file", file=name, reason=text("read.binary"))
    return decoded


def _bytes(name: str) -> bytes:
    """At most one byte more than is allowed."""
    if name != "-":
        with Path(name).open("rb") as stream:
            return stream.read(_LARGEST + 1)
    if not hasattr(sys.stdin, "buffer"):
        raise ValueError(text("read.no-input"))
    return sys.stdin.buffer.read(_LARGEST + 1)


def _lines(value: dict[str, Any], error: PaddockError | None) -> Iterator[str]:
    """One file for a person."""
    from checks.saved_table import part_lines

    if error:
        from provision.show import error_lines

        yield from error_lines(error)
        return
    if value["kind"] is None:
        why = text(f"read.why.{value['why']}")
        yield text("read.unknown", file=value["file"], why=why)
        return
    yield text("read.title", file=value["file"], kind=value["kind"])
    yield from part_lines(value)
    more: Sequence[dict[str, Any]] = value.get("more", ())
    for part in more:
        yield text("read.more", kind=part["kind"])
        yield from part_lines(part)
