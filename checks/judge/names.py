"""The names of torch_npu, from `images/torch_npu_names.toml`."""

from __future__ import annotations

import functools

from provision.document import Table, read
from provision.paths import IMAGES

FILE = "torch_npu_names.toml"


class Name(Table, frozen=True):
    """A name: what it `returns` where it exists, what to take `instead` where it does not."""

    name: str
    source: str
    seen: str
    returns: str = ""
    instead: str = ""


class _Names(Table, frozen=True):
    names: list[Name]


@functools.cache
def names() -> dict[str, Name]:
    """All of them by their full name."""
    return {one.name: one for one in read(IMAGES / FILE, _Names, Name).names}


def known(text: str) -> Name | None:
    """The row of a name, with or without `torch_npu` before it."""
    rows = names()
    return rows.get(text) or rows.get(f"torch_npu.{text}")
