"""Outputs that contradict each other: of two that differ, nobody knows which one is true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from provision.facts import outputs, sent_places
from provision.facts.pci_text import from_lspci
from provision.facts.questions import Output
from provision.facts.texts.lspci import Lspci
from provision.facts.texts.packages import Packages
from provision.facts.texts.variables import Environment

# A machine has one of each; of others (a card's board, a toolkit) there are rightly several.
_SINGLE = {
    "npu-smi info", "efsmi", "lspci", "uname", "os-release", "ldd --version", "/proc/meminfo",
    "free", "id", "ulimit -a", "env", "lsmod", "pip list", "dpkg -l", "rpm -qa",
    "driver version.info", "firmware version.info", "docker info", "docker version",
    "docker daemon.json",
}  # fmt: skip


class Conflict(msgspec.Struct, frozen=True):
    """Files that say different things of one kind; none of them is believed.

    Of several kinds that do not go together, `kind` says in what: `Bus-Id: lspci, efsmi`.
    """

    kind: str
    files: list[str]


def conflicts(every: list[Output]) -> tuple[list[Conflict], list[Output]]:
    """The kinds of which two outputs contradict each other, and all outputs of these kinds."""
    made = list(_of_one_kind(every))
    bad = [output for _, wrong in made for output in wrong]
    made += sent_places.apart([output for output in every if output not in bad])
    found = [Conflict(kind, list(dict.fromkeys(one.real for one in wrong))) for kind, wrong in made]
    return found, [output for _, wrong in made for output in wrong]


def _of_one_kind(every: list[Output]) -> Iterator[tuple[str, list[Output]]]:
    kinds: dict[str, list[tuple[Output, dict[str, Any]]]] = {}
    for output in every:
        for part in outputs.parsed(output):
            if part.kind in _SINGLE:
                kinds.setdefault(part.kind, []).append((output, _told(part, output)))
    for kind, rows in kinds.items():
        if any(_contradict(kind, one, other) for _, one in rows for _, other in rows):
            yield kind, [output for output, _ in rows]


def _told(part: Any, output: Output) -> dict[str, Any]:
    """What a part says, by names under which another of its kind would say the same."""
    if isinstance(part, Lspci):
        return {card.slot: card.ids for card in from_lspci(output.text)}
    if isinstance(part, Packages):
        return {one.name: one.version for one in part.packages}
    if isinstance(part, Environment):
        return part.variables
    told: dict[str, Any] = msgspec.to_builtins(part)
    return told


def _contradict(kind: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two say different things; one may be silent where the other is not.

    Listings of the bus of one machine have each other's cards, or one is an extract of the other.
    """
    both = one.keys() & other.keys()
    if kind == "lspci" and both not in (one.keys(), other.keys()):
        return True
    return any(one[key] != other[key] and None not in (one[key], other[key]) for key in both)
