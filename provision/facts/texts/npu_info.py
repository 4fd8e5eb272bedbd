"""`npu-smi info`: the table of cards and of processes, in all layouts, led by its headings."""

from __future__ import annotations

import re

from provision.facts.texts.npu_row import NONE, columns, count, number, numbers, pair, texts, worse
from provision.facts.texts.npu_values import Card, Chip, NpuInfo, Process
from provision.facts.texts.section import Section
from provision.facts.texts.table import Column, cells, whole
from provision.facts.texts.unknown import Unknown

_BANNER = re.compile(
    r"\bnpu-smi +(?P<tool>[^\s|(（]{1,60})(?:[(（][^|)）]{0,40}[)）])?"
    r"(?: +Version: *(?P<driver>[^\s|(（]{1,60})|(?<=[0-9]) *(?:Version:? *)?\|?$)",
    re.IGNORECASE,
)
_BUS = re.compile(r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)


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
        if len(row) > 1 and row[1].strip().lower().startswith("process id"):
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
        health = "OK" if health == "0K" else health  # read from a picture
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
        self.waiting = None
        said = texts(self.bottom, row)
        bus = said.get("bus", "")
        if not self.bottom or (bus.upper() not in NONE and not _BUS.fullmatch(bus)):
            return
        found = numbers(self.bottom, row)
        chip = Chip(
            count(said.get("chip")), count(said.get("device")),
            bus if _BUS.fullmatch(bus) else None, number(found, "aicore"),
            *pair(found, "memory"), *pair(found, "hbm"), number(found, "util"),
        )  # fmt: skip
        if chip not in card.chips:
            card.chips.append(chip)

    def _process(self, row: list[str]) -> None:
        """A row of the process table; a name may hold a `|`, which makes more cells."""
        extra = len(row) - self.in_processes
        place = row[0].split()
        if len(row) == 1 or not place:
            return
        npu, pid = count(place[0]), count(row[1].strip())
        if npu is None or pid is None:
            return
        chip = count(place[1]) if len(place) > 1 else None
        process = Process(npu, chip, pid, None, None)
        complete = extra >= 0 and self.in_processes > 3  # noqa: PLR2004
        memory = row[3 + extra].strip() if complete else ""
        if memory in ("NA", "-") or count(memory) is not None:  # else the row was cut
            process.memory_mb = count(memory)
            process.name = "|".join(row[2 : 3 + extra]).strip() or None
        self.processes.append(process)


def parse(section: Section) -> NpuInfo | Unknown | None:
    """The table of a section; Unknown when it is one whose headings are not there."""
    reader = _Reader()
    for line in whole(section.lines):
        reader.feed(line)
    banner = reader.banner
    if reader.top and (banner or reader.bottom):
        return NpuInfo(
            "npu-smi info", _version(banner, "tool"), _version(banner, "driver"),
            list(reader.cards.values()), reader.processes, [], sorted(reader.notes),
        )  # fmt: skip
    return Unknown("npu-headings") if banner else None


def _version(banner: re.Match[str] | None, name: str) -> str | None:
    """A version of the banner, None for `NA` and `-`."""
    found = banner[name] if banner else None
    return None if found and found.upper() in NONE else found
