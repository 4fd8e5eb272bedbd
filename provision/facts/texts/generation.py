"""Which generation a card of `npu-smi info` is: by PCI id, else by a telling name or memory."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from provision.document import Table, tables
from provision.facts.texts.lspci import models
from provision.facts.texts.npu_values import Card, Chip
from provision.paths import IMAGES

_FIRST = "Ascend 910"
_FIRST_HBM = 32768  # MB; only the first generation has host-side DDR beside this


class Name(Table, frozen=True):
    """A row of `images/npu_names.toml`: a pattern of whole names."""

    pattern: str
    generation: str
    source: str
    seen: str


@functools.cache
def names() -> list[Name]:
    """The names that tell a generation."""
    return tables(IMAGES / "npu_names.toml", "names", Name)


def generation(card: Card, buses: Mapping[str, str]) -> str | None:
    """The generation as `images/accelerators.toml` calls it, None when nothing tells it.

    `buses` gives vendor:device of bus ids, where these are known. The name `910B` tells nothing:
    first-generation cards print it.
    """
    ids = {buses.get(full_bus(chip.bus_id)) for chip in card.chips if chip.bus_id}
    for model in models():
        if f"{model.vendor}:{model.device}" in ids:
            return model.generation
    plain = re.sub(r"^Ascend[ _]?", "", card.name)
    by_name = next((n.generation for n in names() if re.fullmatch(n.pattern, plain)), None)
    if plain == card.name == "910":
        by_name = None  # only the name `Ascend910` stands for the third
    return by_name or (_FIRST if any(map(_is_first, card.chips)) else None)


def full_bus(bus: str) -> str:
    """A bus id with its domain, in lower case."""
    return bus.lower() if bus.count(":") != 1 else f"0000:{bus.lower()}"


def _is_first(chip: Chip) -> bool:
    """The memory of a first-generation chip: 32 GB of HBM, and DDR."""
    return chip.hbm_total_mb == _FIRST_HBM and (chip.memory_total_mb or 0) > 0
