"""Rows of a drawn table that a narrow terminal broke, made whole again."""

from __future__ import annotations

import itertools
import re

_RULE = re.compile(r"[+][-=+]{3,}")
_REST = re.compile(r"[-=+]{0,400}[+]")


def joined(found: list[str]) -> list[str]:
    """The lines with whole rows; a broken rule tells at which width and how wide the table is."""
    pairs = itertools.zip_longest(found, found[1:], fillvalue="")
    broken = [(line, after) for line, after in pairs if _is_broken(line, after)]
    if not broken:
        return found
    width, whole = len(broken[0][0]), sum(map(len, broken[0]))
    done: list[str] = []
    at = 0
    while at < len(found):
        count, row = _first(found, at, width, -(-whole // width))
        done.append(row)
        at += count
    return done


def _first(found: list[str], at: int, width: int, count: int) -> tuple[int, str]:
    """The row that begins at a line, and of how many lines it is.

    It may have one more than a rule has: a long name moves what follows it.
    """
    if found[at][:1] not in ("+", "|") or _is_whole(found[at : at + 2], width):
        return 1, found[at]
    rows = [(n, _row(found[at : at + n], width)) for n in (count, count + 1)]
    return next(((n, row) for n, row in rows if row[-1:] in ("+", "|")), (1, found[at]))


def _row(parts: list[str], width: int) -> str:
    """The parts of a row put together."""
    return "".join(part.ljust(width) for part in parts[:-1]) + parts[-1]


def _is_whole(two: list[str], width: int) -> bool:
    """Whether the first of two lines is a row by itself: it ends early, and the next begins."""
    ends, begins = two[0][-1:], two[-1][:1]
    before_rule = two[0][:1] == ends == "|" and begins == "+"
    return before_rule or (ends in ("+", "|") and len(two[0]) < width and begins in ("+", "|"))


def _is_broken(line: str, after: str) -> bool:
    """Whether a line is the beginning of a rule and the next line its rest."""
    if not _RULE.fullmatch(line) or not _REST.fullmatch(after):
        return False
    return len(after) <= len(line) and not (line.endswith("+") and after.startswith("+"))
