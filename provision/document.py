"""TOML files as types; a file that does not fit is an error that names the place in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from provision.errors import PaddockError
from provision.words import text


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A TOML table: immutable, and a field it does not know is an error."""


T = TypeVar("T", bound=Table)


def read(path: Path, kind: type[T], *parts: type[Table]) -> T:
    """A file as a table; `parts` are the tables within it.

    Raises PaddockError `stack-missing`, `stack-syntax`, `stack-field` (with the field's path and
    the nearest name) or `stack-type`.
    """
    data = _values(path)
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise _explained(path, str(error), data, (kind, *parts)) from None


def tables(path: Path, key: str, kind: type[T]) -> list[T]:
    """The tables `[[key]]` that are all of a file. Raises PaddockError as `read` does."""
    fields = [(key, list[kind])]  # type: ignore[valid-type]
    whole: type[Any] = msgspec.defstruct("Whole", fields, bases=(Table,), frozen=True)
    found: list[T] = getattr(read(path, whole, kind), key)
    return found


def _values(path: Path) -> Any:
    """The file as plain TOML values."""
    try:
        return msgspec.toml.decode(path.read_bytes())
    except OSError as error:
        raise PaddockError("stack-missing", file=path, reason=error.strerror) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PaddockError("stack-syntax", file=path, reason=error) from None


def _explained(path: Path, message: str, data: Any, tables: Iterable[type[Table]]) -> PaddockError:
    """msgspec's message as one of ours: an unknown field gets its full path and nearest name."""
    import difflib

    match = re.search(r"unknown field `(.+?)`", message)
    if not match:
        what, _, where = message.partition(" - at ")
        if "matching regex" in what:
            what = text("stack.characters")
        return PaddockError("stack-type", file=path, reason=what, field=where.strip("`") or "$")
    known = {field.name for table in tables for field in msgspec.structs.fields(table)}
    near = difflib.get_close_matches(match[1], sorted(known), n=1)
    hint = text("nearest", name=near[0]) if near else ""
    field = next(_paths_of(match[1], data), match[1])
    return PaddockError("stack-field", file=path, field=field, hint=hint)


def _paths_of(key: str, data: Any, path: str = "$") -> Iterator[str]:
    """The paths at which a key stands in nested tables."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for name, value in items:
        here = f"{path}.{name}" if isinstance(data, dict) else f"{path}[{name}]"
        if name == key:
            yield here
        if isinstance(value, dict | list):
            yield from _paths_of(key, value, here)
