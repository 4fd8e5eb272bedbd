"""What differs between two machines: first the checks that say something else, then the facts.

Left out are times and the numbers of file systems (`LEFT_OUT`), which differ between any two. An
amount that moves all the time (`MOVING`) differs only where one is at least ten times the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Any

import msgspec

from checks.doctor import ask
from checks.finding import Finding
from provision.facts.snapshot_file import Saved, read

SAME, DIFFERENT = 0, 10

LEFT_OUT = ("leftover.steps.*.time", "plugin.proved", "disk.*.device")
MOVING = ("disk.*.free", "disk.*.inodes", "machine.memory_available")
_NAMES = ("slot", "purpose", "name")  # what tells the items of a list apart, better than a number

Pair = tuple[Finding, Finding]
Difference = tuple[str, Any, Any]  # where, the value of A, the value of B: plain JSON values


class Comparison(msgspec.Struct, frozen=True):
    """Two snapshots, by the names of their files, and in what they differ."""

    files: tuple[str, str]
    saved: tuple[Saved, Saved]
    checks: list[Pair]
    facts: list[Difference]

    @property
    def status(self) -> int:
        """The exit status: 0 where nothing differs, else 10."""
        return DIFFERENT if self.checks or self.facts else SAME


def compare(file_a: str, file_b: str) -> Comparison:
    """Compare two snapshots. Raises PaddockError `bad-snapshot`."""
    a, b = read(file_a), read(file_b)
    pairs = [pair for pair in zip(ask(a.facts), ask(b.facts), strict=True) if _differ(*pair)]
    facts = differences(msgspec.to_builtins(a.facts), msgspec.to_builtins(b.facts))
    return Comparison((file_a, file_b), (a, b), pairs, list(facts))


def _differ(a: Finding, b: Finding) -> bool:
    """Whether two findings are other verdicts; other evidence for the same one is none."""
    return (a.state, a.case, a.follows) != (b.state, b.case, b.follows)


def differences(a: dict[str, Any], b: dict[str, Any]) -> Iterator[Difference]:
    """The fields that differ, of facts as plain values; for another target not its pins too."""
    if a["target"] != b["target"]:
        a, b = a | {"stack": None}, b | {"stack": None}
    for name in a:
        yield from _walk(name, _named(a[name]), _named(b[name]))


def _walk(path: str, a: Any, b: Any) -> Iterator[Difference]:
    if a == b or _noise(path, a, b):
        return
    if not (is_table(a) and is_table(b)):
        yield path, a, b
        return
    for key in {**a, **b}:
        yield from _walk(f"{path}.{key}", _named(a.get(key)), _named(b.get(key)))


def is_table(value: Any) -> bool:
    """Whether a value has fields to be compared; a fact that could not be read has none."""
    return isinstance(value, dict) and value.keys() != {"reason"}


def _named(value: Any) -> Any:
    """A list of tables as a table, by the first field that names each of them."""
    if not (isinstance(value, list) and value and all(isinstance(one, dict) for one in value)):
        return value
    for field in _NAMES:
        if len({one.get(field) for one in value} - {None}) == len(value):
            return {one[field]: one for one in value}
    return {str(number): one for number, one in enumerate(value)}


def _noise(path: str, a: Any, b: Any) -> bool:
    """Whether a difference says nothing about the machines."""
    if any(fnmatch(path, pattern) for pattern in LEFT_OUT):
        return True
    moving = any(fnmatch(path, pattern) for pattern in MOVING)
    return moving and None not in (a, b) and max(a, b) < 10 * min(a, b)
