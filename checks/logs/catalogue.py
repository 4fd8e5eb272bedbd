"""The catalogue of known failures, `checks/failures.toml`, as types."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from provision.document import Table, tables
from provision.errors import unknown_name
from provision.words import language

FILE = Path(__file__).resolve().parent.parent / "failures.toml"

Group = Literal[
    "build", "install", "import", "run", "distributed", "container", "driver", "docker", "network",
    "python", "machine",
]  # fmt: skip
Id = Annotated[str, msgspec.Meta(pattern=r"\AK\d{3}\Z")]
Month = Annotated[str, msgspec.Meta(pattern=r"\A20\d\d-[01]\d\Z")]


class Texts(Table, frozen=True):
    """One text in both languages."""

    en: str
    zh: str

    def __str__(self) -> str:
        return self.zh if language() == "zh" else self.en


class Failure(Table, frozen=True):
    """One known failure.

    A line that `pattern` (a regular expression) matches shows it. `source` says where the
    knowledge comes from and `seen` when it was looked at. `confirms` names checks of the doctor
    that look for the cause on a machine, `follows` failures whose consequence this one is.
    """

    id: Id
    group: Group
    pattern: str
    cause: Texts
    fix: Texts
    source: str
    seen: Month
    examples: list[str]
    not_examples: list[str] = msgspec.field(default_factory=list)
    confirms: list[str] = msgspec.field(default_factory=list)
    follows: list[Id] = msgspec.field(default_factory=list)

    def matches(self, line: str) -> bool:
        """Whether a line of a log shows this failure."""
        return bool(_compiled(self.pattern).search(line))


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@functools.cache
def failures() -> dict[str, Failure]:
    """All entries by their id, in the order of the file."""
    return {entry.id: entry for entry in tables(FILE, "failure", Failure)}


def failure(name: str) -> Failure:
    """The entry of an id, in capitals or not. Raises PaddockError `unknown-failure`."""
    found = failures().get(name.upper())
    if found is None:
        raise unknown_name("unknown-failure", name, list(failures()))
    return found


def is_id(word: str) -> bool:
    """Whether a word looks like the id of an entry."""
    return bool(re.fullmatch(r"[Kk]\d+", word))


@functools.cache
def causes(name: str) -> frozenset[str]:
    """Every entry that can stand behind this one, near or far."""
    nearest = failures()[name].follows
    return frozenset(nearest).union(*(causes(one) for one in nearest))
