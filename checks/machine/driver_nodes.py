"""Are the device nodes of the Ascend cards there, and may this user open them?"""

from __future__ import annotations

import re

from checks.machine import here, lines
from checks.machine.finding import Check, Evidence, Finding, known
from provision.facts import ascend_driver
from provision.facts.cards import of_device, whole
from provision.facts.nodes import Node
from provision.facts.snapshot import Facts, Unread

_SOURCE = "hicann/driver, specific_func.inc; ascend-docker-runtime: the nodes that a container gets"
_CARD = re.compile(r"/dev/v?davinci\d+")


def _run(facts: Facts) -> Finding:
    nodes = [node for node in known(facts.nodes) if node.vendor == ascend_driver.VENDOR]
    if broken := [node for node in nodes if node.kind not in ("char", "unread")]:
        values = {"path": broken[0].path, "kind": broken[0].kind}
        command = f"ls -ld {broken[0].path}"
        return Finding("error", "wrong-kind", values, _shown(broken), command, _SOURCE)
    cards = [node for node in nodes if _CARD.fullmatch(node.path)]
    wanted = _wanted(facts)
    if wanted == 0 and not cards:  # all are lent to virtual machines
        return Finding("ok", evidence=[Evidence("none needed", "/dev")])
    if not cards:
        evidence = [Evidence("no /dev/davinci0", "/dev"), *_shown(nodes)]
        case = "none-container" if here.in_container(facts) else "none"
        return Finding("error", case, {}, evidence, "ls -l /dev/davinci*", _SOURCE)
    if missing := [path for path in _control(facts) if path not in {node.path for node in nodes}]:
        values = {"missing": ", ".join(missing)}
        case = "control-container" if here.in_container(facts) else "control"
        return Finding("error", case, values, _shown(nodes), source=_SOURCE)
    return _open(nodes) or _count(facts, cards, wanted, nodes)


def _open(nodes: list[Node]) -> Finding | None:
    """Nodes that this user may not open."""
    closed = [node for node in nodes if node.readable is False or node.writable is False]
    if not closed:
        return None
    one = closed[0]
    values = {"path": one.path, "mode": one.mode or "?", "owner": one.owner or str(one.uid),
              "group": one.group or str(one.gid)}  # fmt: skip
    return Finding("error", "closed", values, _shown(closed), f"ls -l {one.path}", _SOURCE)


def _count(facts: Facts, cards: list[Node], wanted: int | None, nodes: list[Node]) -> Finding:
    """A node for each card on the bus; a container has those of the cards that it was given."""
    if wanted is not None and len(cards) < wanted and not here.in_container(facts):
        values = {"there": str(len(cards)), "wanted": str(wanted)}
        return Finding("error", "fewer", values, _shown(cards), "dmesg | grep -i devdrv", _SOURCE)
    if any(node.kind == "unread" for node in nodes):
        return Finding("unknown", "unread-node", {}, _shown(nodes))
    return Finding("ok", evidence=_shown(nodes))


def _wanted(facts: Facts) -> int | None:
    """How many nodes the cards on the bus should have; None where the bus was not read."""
    if isinstance(facts.accelerators, Unread):
        return None
    own = of_device(facts.accelerators, facts.device)
    # A card that is split into virtual functions is used through them.
    return sum(not card.functions for card in whole(own)) if own else None


def _control(facts: Facts) -> list[str]:
    """The nodes beside those of the cards, by the target's stack."""
    devices = facts.stack.container.devices if facts.stack.container else []
    return [path for path in devices if "*" not in path]


def _shown(some: list[Node]) -> list[Evidence]:
    return lines.nodes(some[:12])


CHECK = Check(
    "driver-nodes", _run, needs=("driver-module", "driver-user", "accelerator-count"),
    devices=("npu",),
)  # fmt: skip
