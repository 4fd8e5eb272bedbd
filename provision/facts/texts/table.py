"""Tables drawn with `|`: cells, the columns that a header names, and values under them.

A value goes to the column whose heading it stands under, so a missing one leaves a gap.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import msgspec

Value = float | int | tuple[int | None, int | None] | None

_LONGEST = 1000  # characters: no tool draws a wider table
_NEAR = 4  # characters between a heading's first and its value's
_ONE = r"(?:[0-9]{1,12}|NA|-)"
_CUT = re.compile(r"[^\s|]+$")  # a last word
_TOKEN = re.compile(
    rf"(?<![\w./-])(?:(?P<used>{_ONE})\s{{0,8}}/\s{{0,8}}(?P<total>{_ONE})|"
    r"(?P<number>-?[0-9]{1,12}(?:\.[0-9]{1,6})?)|(?P<none>N/?A|-))"
    r"(?:\s?(?:W|°?C|℃|%|MiB|MB))?(?![\w./])",
    re.IGNORECASE,
)


class Column(msgspec.Struct, frozen=True):
    """A heading: in which cell, from which character of it to which, and what it counts.

    `pair` is true for `used / total`; `factor` makes megabytes of its unit.
    """

    name: str
    cell: int
    start: int
    end: int
    pair: bool = False
    factor: int = 1


def cells(line: str) -> list[str]:
    """The cells of a row as drawn; [] for a rule or a line that is no row."""
    if len(line) > _LONGEST or not set(line) - set("+-=| "):
        return []
    parts = line.split("|")[1:]
    return parts[:-1] if parts and not parts[-1].strip() else parts


def whole(lines: Sequence[str]) -> list[str]:
    """The lines of a table without words that may be cut.

    That is the last word of a row that no bar closes, when it is the last line or reaches as far
    as the widest line does (the terminal or a copy was too narrow).
    """
    drawn = [len(line) for line in lines if line.lstrip()[:1] in ("+", "|")]
    widest = max(drawn, default=0)
    last = len(lines) - 1
    return [
        _CUT.sub(" |", line) if _is_cut(line, widest) or (i == last and _is_cut(line, 0)) else line
        for i, line in enumerate(lines)
    ]


def _is_cut(line: str, widest: int) -> bool:
    """Whether a row ends without a bar where this width ends."""
    return widest <= len(line) <= _LONGEST and "|" in line and not line.endswith("|")


def values(columns: Sequence[Column], cell: str) -> dict[str, Value]:
    """The numbers and pairs of a cell by the names of their columns (all of this cell)."""
    tokens = list(_TOKEN.finditer(cell))
    if len(tokens) == len(columns) and all(map(_fits, columns, tokens)):
        return {column.name: _value(column, token) for column, token in zip(columns, tokens)}  # noqa: B905
    if any(after.start - one.end < 2 for one, after in pairwise(columns)):  # noqa: PLR2004
        return {}  # the blanks that held values under their headings are lost
    found: dict[str, Value] = {}
    for token in tokens:
        near = [c for c in columns if _fits(c, token) and abs(c.start - token.start()) <= _NEAR]
        if len(near) == 1 and near[0].name not in found:
            found[near[0].name] = _value(near[0], token)
    return found


def _fits(column: Column, token: re.Match[str]) -> bool:
    """Whether a token can be a value of this column."""
    return bool(token["none"]) or column.pair == (token["total"] is not None)


def _value(column: Column, token: re.Match[str]) -> Value:
    """A token as a number or as used and total."""
    if token["none"]:
        return None
    if token["total"]:
        return _count(token["used"], column.factor), _count(token["total"], column.factor)
    number = float(token["number"])
    return int(number) if "." not in token["number"] else number


def _count(text: str, factor: int) -> int | None:
    """A count, None for `NA` and `-`."""
    return int(text) * factor if text.isdigit() else None


def under(headings: Sequence[tuple[str, int]], line: str) -> dict[str, str]:
    """The words of a line without bars by the heading that they stand under.

    With as many words as headings the order tells; the last heading takes all that remains.
    Otherwise each word goes to the nearest heading, and one with no heading near to none.
    """
    if not headings or len(line) > _LONGEST:
        return {}
    words = line.split(None, len(headings) - 1)
    if len(words) == len(headings):
        return {name: word.strip() for (name, _), word in zip(headings, words)}  # noqa: B905
    found: dict[str, str] = {}
    for match in re.finditer(r"\S+", line):
        name, start = min(headings, key=lambda heading: abs(heading[1] - match.start()))
        if abs(start - match.start()) <= _NEAR and name not in found:
            found[name] = match[0]
    return found


def headings(line: str, pattern: str = r"\S+(?: \S+)*") -> list[tuple[str, int]]:
    """The headings of a line without bars, with their first characters."""
    return [(match[0], match.start()) for match in re.finditer(pattern, line)]
