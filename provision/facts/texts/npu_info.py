"""`npu-smi info`: the table of cards and of processes, in all layouts, led by its headings."""

from __future__ import annotations

import re

import msgspec

from provision.facts.texts.npu_row import NONE, columns, count, number, numbers, pair, texts, worse
from provision.facts.texts.section import Section
from provision.facts.texts.table import Column, Value, cells
from provision.facts.texts.unknown import Unknown

_BANNER = re.compile(
    r"\bnpu-smi +(?P<tool>[^\s|]{1,60})"
    r"(?: +Version: *(?P<driver>[^\s|]{1,60})|(?<=[0-9]) *(?:Version:? *)?\|?$)",
    re.IGNORECASE,
)
_BUS = re.compile(r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)

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


class _Reader:
    """Reads the table line by line."""

    def __init__(self) -> None:
        self.banner: re.Match[str] | None = None
        self.top: list[Column] = []
        self.bottom: list[Column] = []
        self.width = 0
        self.waiting: Card | None = None  # a card whose chip is the next row
        self.processes: list[Process] = []
        self.cards: dict[int, Card] = {}
        self.in_processes = 0  # the number of cells of the process table, 0 before it
        self.notes: set[str] = set()

    def feed(self, line: str) -> None:
        """Take one line in."""
        self.banner = self.banner or _BANNER.search(line)
        if line.strip() in ("...", "……", "…"):
            self.notes.add("elided")
        row = cells(line)
        if not row or self._heading(row):
            return
        if self.in_processes:
            self._process(row)
        elif self.top and len(row) == self.width:
            self._card(row)

    def _heading(self, row: list[str]) -> bool:
        """Whether the row is one of headings; it is then kept."""
        if any(cell.strip().lower().startswith("process id") for cell in row):
            self.in_processes = len(row)
            return True
        found = columns(row)
        names = {column.name for column in found}
        if names >= {"npu", "name", "health"}:
            self.top, self.width, self.in_processes = found, len(row), 0
            return True
        if "bus" in names and names & {"aicore", "util", "memory", "hbm"}:
            self.bottom = found
            return True
        return False

    def _card(self, row: list[str]) -> None:
        """A row of a card: its name or, below that, its chip."""
        said = texts(self.top, row)
        health = said.get("health", "")
        is_word = health.replace(" ", "").isalpha() and health.upper() not in NONE
        unsaid = health.upper() in NONE and self.waiting is None
        npu = count(said.get("npu"))
        if npu is not None and said.get("name") and (is_word or unsaid):
            self._named(npu, said["name"], health if is_word else None, row)
        elif self.waiting:
            self._chip(self.waiting, row)
        else:
            self.notes.add("stray")

    def _named(self, npu: int, name: str, health: str | None, row: list[str]) -> None:
        """The first row of a card, or of its second die."""
        found = numbers(self.top, row)
        power = number(found, "power")
        card = Card(npu, name, health, power, number(found, "temp"), [])
        known = self.cards.setdefault(npu, card)
        known.health = worse(known.health, health)
        known.power_w = power if known.power_w is None else known.power_w
        self.waiting = known

    def _chip(self, card: Card, row: list[str]) -> None:
        """The second row: a chip. A row that was repeated counts once."""
        said = texts(self.bottom, row)
        bus = said.get("bus", "")
        if bus.upper() not in NONE and not _BUS.fullmatch(bus):
            return
        found = numbers(self.bottom, row)
        chip = Chip(
            count(said.get("chip")), count(said.get("device")),
            bus if _BUS.fullmatch(bus) else None, number(found, "aicore"),
            *pair(found, "memory"), *pair(found, "hbm"), number(found, "util"),
        )  # fmt: skip
        if chip not in card.chips:
            card.chips.append(chip)
        self.waiting = None

    def _process(self, row: list[str]) -> None:
        """A row of the process table; a name may hold a `|`, which makes more cells."""
        extra = len(row) - self.in_processes
        place = row[0].split()
        if extra < 0 or not place:
            return
        npu, pid = count(place[0]), count(row[1].strip())
        if npu is None or pid is None:
            return
        chip = count(place[1]) if len(place) > 1 else None
        name = "|".join(row[2 : 3 + extra]).strip()
        self.processes.append(Process(npu, chip, pid, name or None, count(row[3 + extra].strip())))


def parse(section: Section) -> NpuInfo | Unknown | None:
    """The table of a section; Unknown when it is one whose headings are not there."""
    reader = _Reader()
    for line in section.lines:
        reader.feed(line)
    banner = reader.banner
    if reader.top and (banner or reader.bottom):
        return NpuInfo(
            "npu-smi info", banner["tool"] if banner else None,
            banner["driver"] if banner else None, list(reader.cards.values()), reader.processes,
            [], sorted(reader.notes),
        )  # fmt: skip
    return Unknown("npu-headings") if banner else None
