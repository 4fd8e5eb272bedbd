"""Changes single fields of a JSON object in its text, and leaves every other byte as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class Member(NamedTuple):
    """A field of the outermost object: where its name begins, and its value begins and ends."""

    name: str
    begin: int
    value_begin: int
    value_end: int


def members(text: str) -> list[Member]:
    """The fields of the outermost object, in order. Raises ValueError for what is no JSON object.

    A byte order mark before it is no matter.
    """
    return list(_members(text))


def _members(text: str) -> Iterator[Member]:
    at = _expect(text, 1 if text.startswith("\ufeff") else 0, "{")
    while text[at : at + 1] != "}":
        begin = at
        name, at = _DECODER.raw_decode(text, begin)
        if not isinstance(name, str):
            raise ValueError(f"expected a name (char {begin})")
        value_begin = _expect(text, at, ":")
        _, value_end = _DECODER.raw_decode(text, value_begin)
        yield Member(name, begin, value_begin, value_end)
        at = _blank(text, value_end)
        if text[at : at + 1] == "}":
            break
        at = _expect(text, at, ",")
        if text[at : at + 1] == "}":
            raise ValueError(f"a comma before }} (char {at})")
    if _blank(text, at + 1) != len(text):
        raise ValueError(f"more after the object (char {at + 1})")


def _blank(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _expect(text: str, at: int, sign: str) -> int:
    """The place after a sign, and after the blanks on either side of it."""
    at = _blank(text, at)
    if text[at : at + 1] != sign:
        raise ValueError(f"expected {sign} (char {at})")
    return _blank(text, at + 1)


def put(text: str, name: str, value: Any) -> str:
    """The text with a field set: its value replaced, or the field added as the last one is written.

    Raises ValueError for what is no JSON object.
    """
    found, written = members(text), json.dumps(value)
    for one in found:
        if one.name == name:
            return text[: one.value_begin] + written + text[one.value_end :]
    field = json.dumps(name)
    if not found:
        brace = text.index("{") + 1
        return f"{text[:brace]}{field}: {written}{text[_blank(text, brace) :]}"
    last = found[-1]
    before = found[-2].value_end if len(found) > 1 else text.index("{") + 1
    gap = text[before : last.begin].replace(",", "")  # the line break and indent before it
    colon = text[_DECODER.raw_decode(text, last.begin)[1] : last.value_begin]
    return f"{text[: last.value_end]},{gap}{field}{colon}{written}{text[last.value_end :]}"


def drop(text: str, name: str) -> str:
    """The text without a field, the comma beside it included. Raises ValueError as `put`."""
    found = members(text)
    for number, one in enumerate(found):
        if one.name != name:
            continue
        if number:
            return text[: found[number - 1].value_end] + text[one.value_end :]
        after = found[1].begin if len(found) > 1 else one.value_end
        return text[: one.begin] + text[after:]
    return text
