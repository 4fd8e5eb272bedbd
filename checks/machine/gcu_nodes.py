"""Are the device nodes of the Enflame cards there, and may this user open them?"""

from __future__ import annotations

import re

from checks.machine import here, lines
from checks.machine.finding import Check, Evidence, Finding, known
from provision.facts import enflame
from provision.facts.cards import LENT
from provision.facts.nodes import Node
from provision.facts.snapshot import Facts, Unread

_SOURCE = "Enflame device plugin guide: /dev/gcu0 and on, /dev/gcuctl"


def _run(facts: Facts) -> Finding:
    nodes = [node for node in known(facts.nodes) if node.vendor == "Enflame"]
    cards = [node for node in nodes if re.fullmatch(r"/dev/v?gcu[0-9]\S*", node.path)]
    broken = [node for node in nodes if node.kind in ("dir", "file", "broken link")]
    if broken:
        values = {"path": broken[0].path, "kind": broken[0].kind}
        return Finding("error", "wrong-kind", values, _shown(broken), source=_SOURCE)
    wanted = _wanted(facts)
    values = {"there": str(len(cards)), "wanted": str(wanted)}
    if not cards and wanted != 0:
        return Finding("error", "none", values, [Evidence("no /dev/gcu0", "/dev")], source=_SOURCE)
    closed = [node for node in nodes if not (node.readable and node.writable)]
    if closed:
        values = {"path": closed[0].path, "mode": closed[0].mode or "?",
                  "group": closed[0].group or str(closed[0].gid)}  # fmt: skip
        return Finding("error", "closed", values, _shown(closed), source=_SOURCE)
    if wanted is not None and len(cards) < wanted and not here.in_container(facts):
        return Finding("error", "fewer", values, _shown(cards), "dmesg | grep -i enflame", _SOURCE)
    if cards and not any(node.path == "/dev/gcuctl" for node in nodes) and not _works(facts):
        return Finding("error", "control", values, _shown(cards), source=_SOURCE)
    return Finding("ok", evidence=_shown(nodes) or [Evidence("none needed", "/dev")])


def _wanted(facts: Facts) -> int | None:
    """How many nodes the cards on the bus should have; None where the bus was not read."""
    if isinstance(facts.accelerators, Unread):
        return None
    cards = [card for card in facts.accelerators if card.vendor == enflame.VENDOR]
    # A card that is shared as virtual functions is used through them.
    return sum(card.driver not in LENT and not card.functions for card in cards)


def _works(facts: Facts) -> bool:
    """Whether efsmi sees a card; the first drivers had no control node."""
    shown = enflame.table(here.outputs(facts))
    return bool(shown and shown[0].cards)


def _shown(some: list[Node]) -> list[Evidence]:
    return lines.nodes(some[:10])


CHECK = Check("gcu-nodes", _run, needs=("gcu-module",), devices=("gcu",))
