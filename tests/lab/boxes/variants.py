"""The broken boxes, as data: what differs from the healthy one, and what is to be named first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from tests.lab.boxes.spec import Function, Node, Spec

_FILE = Path(__file__).parent / "variants.toml"
ALL = "*"


class Variant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A root cause. `expect` is the check that names it; `means` says it in words. What `look`
    prints there matches the pattern `sees`, and does not in the healthy box.

    `lost` are slots of cards that are gone from the bus. `functions`, `cards` and `nodes` change
    fields of those by slot, number and path, of all for "*"; `state` those of the vendor's tool;
    `modules` are all that are loaded; with `no_nodes` there are none. `also` is a second vendor in
    the box, `engine` a Docker Engine. `shell` is run in the box as root, `prelude` by the shell of
    `user` before the tool; `doctor` are arguments of its own.
    """

    id: str
    box: str
    expect: str
    means: str
    look: str
    sees: str
    lost: list[str] = []
    functions: dict[str, dict[str, Any]] = {}
    cards: dict[str, dict[str, Any]] = {}
    nodes: dict[str, dict[str, Any]] = {}
    no_nodes: bool = False
    state: dict[str, Any] = {}
    modules: dict[str, str] | None = None
    also: str = ""
    engine: bool = False
    shell: str = ""
    prelude: str | None = None
    user: str = "root"
    doctor: str = ""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    variant: list[Variant]


def variants() -> list[Variant]:
    """All of them, in the order of the file."""
    return msgspec.toml.decode(_FILE.read_bytes(), type=_File).variant


def broken(healthy: Spec, variant: Variant, other: Spec | None) -> Spec:
    """The box of a variant; `other` is the healthy box of the second vendor."""
    functions = [_function(one, variant) for one in healthy.functions]
    cards = [_card(card, variant) for card in healthy.state["cards"]]
    nodes = [_node(node, variant) for node in healthy.nodes]
    modules = healthy.modules if variant.modules is None else variant.modules
    if other:
        functions += other.functions
        nodes += other.nodes
        modules = {**modules, **other.modules}
    present = [card for card in cards if card["bus"].lower() not in variant.lost]
    return replace(
        healthy,
        functions=tuple(one for one in functions if one.slot not in variant.lost),
        modules=modules,
        nodes=() if variant.no_nodes else _without(nodes, len(cards) - len(present)),
        state={**healthy.state, **variant.state, "cards": present},
        prelude=healthy.prelude if variant.prelude is None else variant.prelude,
    )


def _function(one: Function, variant: Variant) -> Function:
    """A function as the variant has it; "*" means the accelerators."""
    all_cards = variant.functions.get(ALL, {}) if one.class_.startswith("12") else {}
    changes = {**all_cards, **variant.functions.get(one.slot, {})}
    pairs: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in changes.items()
    }
    return replace(one, **pairs)


def _card(card: dict[str, Any], variant: Variant) -> dict[str, Any]:
    return {**card, **variant.cards.get(ALL, {}), **variant.cards.get(str(card["id"]), {})}


def _node(node: Node, variant: Variant) -> Node:
    return replace(node, **variant.nodes.get(ALL, {}), **variant.nodes.get(node.path, {}))


def _without(nodes: list[Node], lost: int) -> tuple[Node, ...]:
    """The nodes after a start with fewer cards: those with the highest numbers are gone."""
    numbered = [node for node in nodes if node.path[-1].isdecimal()]
    gone = numbered[len(numbered) - lost :]
    return tuple(node for node in nodes if node not in gone)
