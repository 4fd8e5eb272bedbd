"""`efsmi`: the table of Enflame cards, two rows a card, led by its headings."""

from __future__ import annotations

import re

import msgspec

from provision.facts.texts.section import Section
from provision.facts.texts.table import cells, whole
from provision.facts.texts.unknown import Unknown

_BANNER = re.compile(
    r"EFSMI:? +V?(?P<tool>[0-9][\w.+-]{0,40})(?: +Driver Ver: *V?(?P<driver>[0-9][\w.+-]{0,40}))?",
    re.IGNORECASE,
)
_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,3})?"
_BUS = re.compile(r"(?:[0-9a-f]{2,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)
_TEMPERATURE = re.compile(rf"^ *(-?{_NUMBER})(?![0-9.]| *W\b)")
_POWER = re.compile(  # `118W / 300W`, `- / 300W`, `105W  300W`; one alone could be either
    rf"(?<![\w.])(?P<use>{_NUMBER}|-|N/?A) ?(?:W\b)? {{0,4}}/ {{0,4}}(?P<cap>{_NUMBER}|-|N/?A)"
    rf"|(?<![\w.])(?P<use_>{_NUMBER}) ?W {{1,9}}(?P<cap_>{_NUMBER}) ?W\b",
    re.IGNORECASE,
)
_MEMORY = re.compile(rf"(?<![\w.])({_NUMBER}) ?([MG])i?B\b")


class Card(msgspec.Struct):
    """A card: MB, watts, degrees Celsius; `ecc` is the word that the table prints."""

    device_id: int
    name: str
    bus_id: str | None
    temperature_c: float | None
    power_w: float | None
    power_cap_w: float | None
    memory_total_mb: int | None
    ecc: str | None


class Efsmi(msgspec.Struct):
    """The whole table."""

    kind: str
    tool_version: str | None
    driver_version: str | None
    cards: list[Card]


class _Reader:
    """Reads the table line by line; which cell holds what the headings tell."""

    def __init__(self) -> None:
        self.banner: re.Match[str] | None = None
        self.top: dict[str, int] = {}
        self.bottom: dict[str, int] = {}
        self.cards: dict[int, Card] = {}
        self.waiting: Card | None = None

    def feed(self, line: str) -> None:
        """Take one line in."""
        self.banner = self.banner or _BANNER.search(line)
        row = cells(line)
        if len(row) < 2 or self._heading(row):  # noqa: PLR2004
            return
        card = self._named(row) if self.top else None
        if card:
            self.waiting = self.cards.setdefault(card.device_id, card)
        elif self.waiting and self.bottom:
            self._measured(self.waiting, row)
            self.waiting = None

    def _heading(self, row: list[str]) -> bool:
        """Whether the row is one of headings; it is then kept."""
        words = {word.upper(): index for index, cell in enumerate(row) for word in cell.split()}
        if {"DEV", "NAME"} <= set(words):
            self.top = words
            return True
        if "TEMP" in words and any(word.startswith("PWR") for word in words):
            self.bottom = {word.partition("(")[0]: index for word, index in words.items()}
            return True
        return False

    def _named(self, row: list[str]) -> Card | None:
        """The first row of a card: number and name, bus and ECC."""
        match = re.fullmatch(r" *([0-9]{1,4}) +(\S.*?) *", _cell(row, self.top, "DEV"))
        place = _cell(row, self.top, "BUS-ID").split()
        bus = next((word for word in place if _BUS.fullmatch(word)), None)
        blank = place[:1] in (["-"], ["N/A"], ["NA"])
        if not match or (bus is None and not blank):
            return None
        ecc = place[-1] if "ECC" in self.top and place and place[-1].isalpha() else None
        ecc = None if ecc and ecc.upper() == "NA" else ecc
        return Card(int(match[1]), match[2], bus, None, None, None, None, ecc)

    def _measured(self, card: Card, row: list[str]) -> None:
        """The second row: temperature, power and memory, each known by its unit."""
        state = _cell(row, self.bottom, "PWR")
        temperature = _TEMPERATURE.match(_cell(row, self.bottom, "TEMP"))
        card.temperature_c = _number(temperature[1]) if temperature else None
        if power := _POWER.search(state):
            card.power_w = _number(power["use"] or power["use_"])
            card.power_cap_w = _number(power["cap"] or power["cap_"])
        if memory := _MEMORY.search(_cell(row, self.bottom, "MEM")):
            factor = 1024 if memory[2] == "G" else 1
            card.memory_total_mb = int(float(memory[1]) * factor)


def parse(section: Section) -> Efsmi | Unknown | None:
    """The table of a section; Unknown when it is one whose headings are not there."""
    reader = _Reader()
    for line in whole(section.lines):
        reader.feed(line)
    banner = reader.banner
    if not reader.top or not (banner or reader.bottom):
        return Unknown("efsmi-headings") if banner else None
    return Efsmi("efsmi", banner["tool"] if banner else None, banner["driver"] if banner else None,
                 list(reader.cards.values()))  # fmt: skip


def _cell(row: list[str], headings: dict[str, int], name: str) -> str:
    """The cell below a heading."""
    index = headings.get(name, len(row))
    return row[index] if index < len(row) else ""


def _number(text: str) -> float | None:
    """A number as printed; None for a dash or `N/A`."""
    if not re.fullmatch(rf"-?{_NUMBER}", text):
        return None
    return float(text) if "." in text else int(text)
