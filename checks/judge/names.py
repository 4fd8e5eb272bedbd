"""The names of torch_npu, from `images/torch_npu_names.toml`."""

from __future__ import annotations

import functools

from provision.document import Table, read
from provision.paths import IMAGES

FILE = "torch_npu_names.toml"


class Name(Table, frozen=True):
    """A name: what it `returns` where it exists, what to take `instead` where it does not.

    `fused` is the operation of a Llama that it computes; "" for another.
    """

    name: str
    source: str
    seen: str
    returns: str = ""
    instead: str = ""
    fused: str = ""


class Published(Table, frozen=True):
    """The versions of torch_npu that there are."""

    versions: list[str]
    source: str
    seen: str


class _Names(Table, frozen=True):
    names: list[Name]
    published: Published


@functools.cache
def _file() -> _Names:
    return read(IMAGES / FILE, _Names, Name, Published)


@functools.cache
def names() -> dict[str, Name]:
    """All of them by their full name."""
    return {one.name: one for one in _file().names}


def published() -> list[str]:
    """The versions of torch_npu that there are, the oldest first."""
    return _file().published.versions


def known(text: str) -> Name | None:
    """The row of a name, with or without `torch_npu` before it."""
    rows = names()
    return rows.get(text) or rows.get(f"torch_npu.{text}")
