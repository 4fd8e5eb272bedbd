"""Tells what a saved output is and reads it: the registry of parsers, and what it all makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from provision.facts.texts import (
    accounts,
    blocks,
    disks,
    docker,
    docker_lists,
    efsmi,
    efsmi_list,
    efsmi_query,
    engine,
    hccn,
    images,
    listing,
    lspci,
    memory,
    modules,
    notes,
    npu_errors,
    npu_info,
    npu_lists,
    npu_processes,
    npu_shares,
    npu_tables,
    packages,
    system,
    variables,
    versions,
)
from provision.facts.texts.generation import full_bus, generation
from provision.facts.texts.npu_values import NpuInfo
from provision.facts.texts.section import Section, sections
from provision.facts.texts.unknown import Unknown

SCHEMA = "paddock/read/1"
Parser = Callable[[Section], Any]

# Every kind of output, in the order in which parts of one section are shown.
PARSERS: tuple[Parser, ...] = (
    npu_info.parse,
    npu_lists.mapping,
    npu_lists.listed,
    npu_processes.parse,
    npu_lists.version,
    npu_tables.watch,
    npu_tables.topology,
    npu_shares.shares,
    npu_shares.templates,
    npu_tables.usage,
    blocks.parse,
    npu_errors.parse,
    efsmi.parse,
    efsmi_query.query,
    efsmi_query.monitor,
    efsmi_list.listed,
    efsmi_list.as_json,
    lspci.parse,
    versions.parse,
    packages.dpkg,
    packages.rpm,
    packages.pip,
    docker.parse,
    docker.containerd,
    images.parse,
    hccn.parse,
    notes.topsrider,
    notes.module,
    notes.capacity,
    listing.nodes,
    engine.info,
    engine.version,
    docker_lists.listed,
    system.uname,
    system.os_release,
    system.libc,
    system.python,
    memory.meminfo,
    memory.free,
    disks.parse,
    accounts.identity,
    accounts.ulimits,
    variables.parse,
    modules.lsmod,
    modules.dmesg,
)
_LEADING = ("npu-smi info", "efsmi", "lspci")  # what a text with several parts is mainly about


def parts(text: str) -> list[Any]:
    """All that was read from a text, in its order; an Unknown where a section tells nothing."""
    return [part for section in sections(text) for part in _section(section)]


def read(text: str) -> dict[str, Any]:
    """What a text is and says, as JSON values: its main part, and the others under `more`.

    `kind` is None where nothing was recognised; `why` then says why.
    """
    found = parts(text)
    known = [part for part in found if part.kind is not None]
    _resolve(known)
    if not known:
        why = next((part.why for part in found), "empty" if not text.strip() else "no-layout")
        return {"schema": SCHEMA, "kind": None, "why": why}
    main = min(known, key=_rank)
    others = [msgspec.to_builtins(part) for part in known if part is not main]
    value: dict[str, Any] = {"schema": SCHEMA, **msgspec.to_builtins(main)}
    return {**value, "more": others} if others else value


def _rank(part: Any) -> int:
    """The place of a part among those that a text may mainly be about."""
    return _LEADING.index(part.kind) if part.kind in _LEADING else len(_LEADING)


def _section(section: Section) -> list[Any]:
    """The parts of one section."""
    found: list[Any] = []
    for parser in PARSERS:
        value = parser(section)
        found += value if isinstance(value, list) else [value] if value is not None else []
    known = [part for part in found if part.kind is not None]
    return known or found[:1] or [Unknown("no-layout")]


def _resolve(known: Sequence[Any]) -> None:
    """Give the cards their generation, with the PCI ids that other parts of the text tell."""
    buses: dict[str, str] = {}
    for part in known:
        if isinstance(part, lspci.Lspci):
            buses |= {full_bus(one.slot): f"{one.vendor}:{one.device}" for one in part.devices}
        if isinstance(part, blocks.Blocks):
            buses |= dict(filter(None, map(_board, part.blocks)))
    for part in known:
        if isinstance(part, NpuInfo):
            part.generations = [generation(card, buses) for card in part.cards]


def _board(block: blocks.Block) -> tuple[str, str] | None:
    """Bus id and PCI ids of `-t board`."""
    names = ("PCIe Bus Info", "PCI Vendor ID", "PCI Device ID")
    bus, vendor, device = (str(block.values.get(name) or "").lower() for name in names)
    if not (bus and vendor and device):
        return None
    return full_bus(bus), f"{vendor.removeprefix('0x')}:{device.removeprefix('0x')}"
