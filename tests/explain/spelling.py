"""What Python's own parser of regular expressions says that a pattern spells out."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

_PARSER = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")


def spelled(pattern: str) -> list[list[str]]:
    """For each way through a pattern, the runs of fixed characters outside of capturing groups.

    Raises ValueError where case does not count, so that nothing is fixed.
    """
    if re.compile(pattern).flags & re.IGNORECASE:
        raise ValueError(f"ignores case: {pattern}")
    return [_joined(way) for way in _ways(list(_PARSER.parse(pattern)))]


def _joined(signs: Iterable[str]) -> list[str]:
    """The runs between empty signs, which stand for what is not fixed."""
    return [run for run in "".join(sign or "\0" for sign in signs).split("\0") if run]


def _ways(items: list[Any]) -> Iterator[list[str]]:
    """Each way through a sequence: its characters, "" for anything that is not one."""
    if not items:
        yield []
        return
    for first in _choices(*items[0]):
        for rest in _ways(items[1:]):
            yield [*first, *rest]


def _choices(kind: Any, value: Any) -> Iterator[list[str]]:
    """The ways through one item. The parser writes `ax|bx` as an `a`, then a branch, or a class."""
    name = str(kind)
    if name == "LITERAL":
        yield [chr(value)]
    elif name == "BRANCH":
        for branch in value[1]:
            yield from _ways(list(branch))
    elif name == "IN" and all(str(one) == "LITERAL" for one, _ in value):
        yield from ([chr(sign)] for _, sign in value)
    elif name == "MAX_REPEAT" and value[0] and str(value[2][0][0]) == "LITERAL":
        yield [chr(value[2][0][1]), ""]
    else:
        yield [""]
