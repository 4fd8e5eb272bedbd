"""A snapshot as a JSON document: one machine's facts, to be examined on another."""

from __future__ import annotations

import functools
import json
import operator
import time
from typing import Annotated, Any, get_args

import msgspec

from provision.amounts import size
from provision.errors import PaddockError
from provision.facts.snapshot import UNSENT, Facts, Unread
from provision.stack import Stack
from provision.words import text

SCHEMA = "paddock/snapshot/1"
_LARGEST = 16 << 20  # bytes; a real one has some tens of thousands


class _Unfit(Exception):
    """What keeps a text from being a snapshot, in the user's language."""


class Saved(msgspec.Struct, frozen=True):
    """The facts of a snapshot, and when they were read (seconds since 1970)."""

    facts: Facts
    time: float


class _Document(msgspec.Struct, frozen=True):
    """The outside of a document; what the facts are made of is looked at one by one."""

    schema: str
    time: Annotated[float, msgspec.Meta(ge=0, le=2e11)]  # a date that a calendar has
    facts: dict[str, Any]


def encode(facts: Facts) -> bytes:
    """The facts of now as a document. What has no spelling in UTF-8 becomes `?`."""
    document = _Document(SCHEMA, round(time.time(), 3), msgspec.to_builtins(facts))
    written = json.dumps(msgspec.to_builtins(document), ensure_ascii=False, indent=1)
    return written.encode("utf-8", "replace") + b"\n"


def read(file: str) -> Saved:
    """The snapshot in a file; `-` is standard input. Raises PaddockError `bad-snapshot`."""
    try:
        return _decode(_content(file))
    except OSError as error:
        reason = str(error.strerror)
    except _Unfit as error:
        reason = str(error)
    raise PaddockError("bad-snapshot", file=file, reason=reason)


def _content(file: str) -> bytes:
    """The bytes of a file, and no more of them than a snapshot can have."""
    standard_input = file == "-"
    with open(0 if standard_input else file, "rb", closefd=not standard_input) as stream:
        data = stream.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise _Unfit(text("too-large", size=size(_LARGEST)))
    return data


def _decode(data: bytes) -> Saved:
    """The document as facts. Raises _Unfit."""
    if not data.strip():  # what was to write it, has not: its own error says why
        raise _Unfit(text("snapshot.empty"))
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _Unfit(text("snapshot.no-json", reason=error)) from None
    schema = raw.get("schema") if isinstance(raw, dict) else None
    if not isinstance(schema, str) or not schema.startswith("paddock/snapshot/"):
        raise _Unfit(text("snapshot.other"))
    if schema != SCHEMA:
        raise _Unfit(text("snapshot.version", found=schema, known=SCHEMA))
    try:
        document = msgspec.convert(raw, _Document)
        return Saved(_facts(document.facts), document.time)
    except msgspec.ValidationError as error:
        raise _Unfit(text("snapshot.damaged", reason=error)) from None


def _facts(raw: dict[str, Any]) -> Facts:
    """The facts. One that the document lacks (an older tool wrote it) could not be read."""
    stack = msgspec.convert(raw.get("stack"), Stack)
    # What ends in a command comes from the stack alone, whose alphabet is closed.
    values: dict[str, Any] = {"target": stack.target, "device": stack.device, "stack": stack}
    # An older tool told it by a fact that no output can tell.
    sent = raw.get("sent", raw.get("disk") == msgspec.to_builtins(UNSENT))
    values["sent"] = msgspec.convert(sent, bool)
    missing = {"reason": text("snapshot.missing")}
    for field in msgspec.structs.fields(Facts):
        if field.name not in values:
            values[field.name] = _fact(raw.get(field.name, missing), field.type)
    return Facts(**values)


def _fact(raw: Any, kind: Any) -> Any:
    """One fact by the type of its field, `T | Unread`: which of them is told by the form."""
    if isinstance(raw, dict) and raw.keys() == {"reason"}:
        return msgspec.convert(raw, Unread)
    readable = [one for one in get_args(kind) if one is not Unread]
    return msgspec.convert(raw, functools.reduce(operator.or_, readable))
