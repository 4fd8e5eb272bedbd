"""The values of `npu-smi info`: cards, their chips, processes."""

from __future__ import annotations

import msgspec


class Chip(msgspec.Struct, omit_defaults=True):
    """A chip (a die) of a card; MB and percent. `npu_util_percent` only where a layout has it."""

    chip_id: int | None
    device_id: int | None
    bus_id: str | None
    aicore_percent: float | None
    memory_used_mb: int | None
    memory_total_mb: int | None
    hbm_used_mb: int | None
    hbm_total_mb: int | None
    npu_util_percent: float | None = None


class Card(msgspec.Struct):
    """A card: watts and degrees Celsius; of two dies the health is the worse one."""

    npu_id: int
    name: str
    health: str | None
    power_w: float | None
    temperature_c: float | None
    chips: list[Chip]


class Process(msgspec.Struct):
    """A process on a chip. `name` is None where the table leaves it out (in a container)."""

    npu_id: int
    chip_id: int | None
    pid: int
    name: str | None
    memory_mb: int | None


class NpuInfo(msgspec.Struct):
    """The whole table. `notes`: `elided` (lines were left out), `stray` (rows of no card)."""

    kind: str
    tool_version: str | None
    driver_version: str | None
    cards: list[Card]
    processes: list[Process]
    generations: list[str | None]
    notes: list[str]
