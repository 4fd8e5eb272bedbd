"""What a box is made of: devices on the bus, modules, nodes, and what the vendor's tool knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Function:
    """A function on the PCI bus. Ids are hex digits; `link` is width and generation, now and at
    best; None for a device without a link of its own."""

    slot: str
    vendor: str
    device: str
    class_: str
    subsystem: tuple[str, str]
    revision: int = 0
    numa_node: int = 0
    link: tuple[int, int] | None = None
    link_max: tuple[int, int] = (16, 4)
    driver: str | None = None


@dataclass(frozen=True)
class Node:
    """A character device; `owner` is `user:group`."""

    path: str
    major: int
    minor: int
    mode: str
    owner: str


@dataclass(frozen=True)
class Spec:
    """A box. `modules` are those loaded, with their versions ("" for none); `state` is the file
    of the vendor's tool; `prelude` is what the user's shell has run before the tool."""

    name: str
    functions: tuple[Function, ...]
    modules: Mapping[str, str]
    nodes: tuple[Node, ...]
    state: Mapping[str, Any]
    prelude: str
