"""The fields in which two values differ, each by its path, without what says nothing.

Left out are times, the numbers of file systems and processes (`LEFT_OUT`), which differ between any
two machines. An amount that moves all the time (`MOVING`) differs only where one is at least ten
times the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Any

LEFT_OUT = ("leftover.steps.*.time", "plugin.proved", "disk.*.device", "holders")
MOVING = (
    "disk.*.free", "disk.*.inodes", "machine.memory_available", "limits.shm_free",
    "limits.hugepages.*.free",
)  # fmt: skip
# What tells the items of a list apart, better than a number.
_NAMES = ("slot", "purpose", "name", "path", "file", "npu_id", "device_id", "chip_id", "size")

Difference = tuple[str, Any, Any]  # where, the value of A, the value of B: plain JSON values


def differences(a: dict[str, Any], b: dict[str, Any]) -> Iterator[Difference]:
    """The fields that differ, of facts as plain values; for another target not its pins too."""
    if a["target"] != b["target"]:
        a, b = a | {"stack": None}, b | {"stack": None}
    for name in a:
        yield from _walk(name, _named(a[name]), _named(b[name]))


def _walk(path: str, a: Any, b: Any) -> Iterator[Difference]:
    if a == b or _noise(path, a, b):
        return
    if isinstance(a, list) and isinstance(b, list):
        yield path, *_apart(a, b)
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
            return {str(one[field]): one for one in value}
    return [json.dumps(one, ensure_ascii=False, sort_keys=True) for one in value]


def _apart(a: list[Any], b: list[Any]) -> tuple[list[Any], list[Any]]:
    """Two lists without what both have; where only the order differs, the whole of them."""
    left, right = [], list(b)
    for one in a:
        if one in right:
            right.remove(one)
        else:
            left.append(one)
    return (left, right) if left or right else (a, b)


def _noise(path: str, a: Any, b: Any) -> bool:
    """Whether a difference says nothing about the machines."""
    if any(fnmatch(path, pattern) for pattern in LEFT_OUT):
        return True
    moving = any(fnmatch(path, pattern) for pattern in MOVING)
    return moving and None not in (a, b) and max(a, b) < 10 * min(a, b)
