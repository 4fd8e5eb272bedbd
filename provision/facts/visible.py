"""The variables that choose among the cards, against the cards that are there."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from provision.document import Table, tables
from provision.facts.nodes import Node
from provision.paths import IMAGES

_MOST = 1024  # cards of a range such as `0-3`
# What is wrong with a value, the worst first. `garbage`: something that is no number; `absent`: a
# card that is not there; `host`: one that has that number on the host, but not here.
Problem = Literal["", "garbage", "host", "absent", "twice", "order"]


class Variable(Table, frozen=True):
    """A row of `images/visible_devices.toml`; see there."""

    device: str
    name: str
    nodes: str
    counts: Literal["order", "number", "either"]
    where: Literal["process", "container"]
    form: Literal["list", "ranges", "any"]
    words: list[str]
    source: str
    seen: str


class Choice(msgspec.Struct, frozen=True):
    """What a value chooses. `ids` are those before the first that is wrong, `bad` is that one."""

    ids: list[int]
    problem: Problem = ""
    bad: str = ""


@functools.cache
def variables() -> tuple[Variable, ...]:
    """The known variables."""
    return tuple(tables(IMAGES / "visible_devices.toml", "variables", Variable))


def numbers(nodes: Iterable[Node], pattern: str) -> list[int]:
    """The numbers of the device nodes of a pattern such as `/dev/davinci*`, sorted."""
    prefix = re.escape(pattern.removesuffix("*"))
    found = (re.fullmatch(f"{prefix}([0-9]{{1,6}})", node.path) for node in nodes
             if node.kind in ("char", "block"))  # fmt: skip
    return sorted(int(match[1]) for match in found if match)


def choose(variable: Variable, value: str, there: list[int] | None) -> Choice:
    """What a value of a variable chooses of the cards with these numbers; None for not known."""
    if variable.form == "any" or not value.strip() or value.strip().lower() in variable.words:
        return Choice([])
    known = None if there is None else _known(variable, there)
    ids: list[int] = []
    for word in value.split(","):
        some = _ids(word, variable.form)
        if some is None:
            return Choice(ids, "garbage", word)
        if known is not None and (lost := [one for one in some if one not in known]):
            host = there is not None and lost[0] in there
            return Choice(ids, "host" if host else "absent", str(lost[0]))
        ids += some
    return Choice(ids, *_order(variable, ids))


def wants(variable: Variable, value: str) -> bool:
    """Whether a value asks for a card at all."""
    word = value.strip().lower()
    return bool(word) and not (word in variable.words and word in ("none", "void"))


def _known(variable: Variable, there: list[int]) -> list[int]:
    """The numbers by which a variable may name the cards."""
    order = list(range(len(there)))
    return {"order": order, "number": there, "either": order + there}[variable.counts]


def _ids(word: str, form: str) -> list[int] | None:
    """The numbers of one word between commas; None for what is none."""
    if form == "list":
        return [int(word)] if re.fullmatch("[0-9]{1,6}", word) else None
    match = re.fullmatch(r"(?:[A-Za-z]\w{0,20}-)?([0-9]{1,6})(?:-([0-9]{1,6}))?", word.strip())
    if match is None:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    return list(range(first, last + 1)) if first <= last < first + _MOST else None


def _order(variable: Variable, ids: list[int]) -> tuple[Problem, str]:
    """What is wrong with the order of numbers that are all there."""
    twice = next((one for place, one in enumerate(ids) if one in ids[:place]), None)
    if twice is not None:
        return "twice", str(twice)
    late = next((b for a, b in itertools.pairwise(ids) if b < a), None)
    if late is not None and variable.form == "list":
        return "order", str(late)
    return "", ""
