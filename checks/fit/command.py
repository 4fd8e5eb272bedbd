"""`fit` as a person meets it: flags in, figures and a verdict out."""

from __future__ import annotations

from typing import Any

import msgspec

from checks.fit import memory
from checks.fit.cards import Card, Memory, cards_of, target_of
from checks.fit.cards import memory as known_memory
from checks.fit.changes import changes
from checks.fit.judge import Room, Verdict, largest
from checks.fit.model import Model, find
from checks.fit.tile import Tile, tile
from checks.fit.wish import BYTES, KERNELS, RECOMPUTE, SHARDING, Wish, checked
from provision.arguments import count, one_of
from provision.console import show, show_json
from provision.errors import ERRORS, SOUND, WARNINGS, PaddockError
from provision.words import text

STATUS = {"fits": SOUND, "tight": WARNINGS, "no": ERRORS}


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer, schema `paddock/fit/1`. Sizes in bytes.

    `cards` has a verdict for each kind of card that may be meant, the worst first; `changes` and
    `largest` are for that one. `changes` are sets of options, the cheapest first.
    """

    schema: str = "paddock/fit/1"
    model: Model
    target: str
    run: Wish
    stages: list[memory.Parts]
    attention: memory.Attention
    tile: Tile | None
    cards: list[Verdict]
    changes: list[tuple[str, ...]]
    largest: dict[str, int]
    notes: list[str]


def fit(target: str, flags: dict[str, Any], *, json: bool) -> int:
    """Show whether a run fits. Returns STATUS of the worst verdict.

    `target` exists. Raises PaddockError `bad-option`, `flags-apart`, `flag-needs`, `unknown-model`,
    `bad-model`.
    """
    found = answer(target, flags)
    if json:
        show_json(msgspec.to_builtins(found))
    else:
        from checks.fit.show import lines

        for line in lines(found):
            show(line)
    return STATUS[found.cards[0].verdict]


def answer(target: str, flags: dict[str, Any]) -> Fit:
    """The answer to what the flags ask. Raises PaddockError as `fit` does."""
    if not flags["model"]:
        wanted = text("fit.wanted.model")
        raise PaddockError("bad-option", option="--model", value="", wanted=wanted)
    known = known_memory()
    model = find(flags["model"])
    wish = checked(wish_of(target, flags, model, known), model)
    one_of("--ecc", flags["ecc"], ("", "on", "off"))
    rooms = [Room(model, card, target_of(known, target))
             for card in cards_of(known, target, flags["card"], flags["ecc"])]  # fmt: skip
    judged = sorted(((room.judge(wish), room) for room in rooms), key=lambda pair: pair[0].left)
    verdicts, worst = [verdict for verdict, _ in judged], judged[0][1]
    chip = next((one for one in known.chips if one.target == target), None)
    return Fit(
        model=model, target=target, run=wish, stages=memory.parts(model, wish),
        attention=memory.attention(model, wish), tile=tile(chip, model, wish) if chip else None,
        cards=verdicts, changes=[] if verdicts[0].verdict == "fits" else changes(worst, wish),
        largest=largest(worst, wish), notes=_notes(target, wish, [room.card for room in rooms]),
    )  # fmt: skip


def wish_of(target: str, flags: dict[str, Any], model: Model, known: Memory) -> Wish:
    """The flags as a wish, what is not given by the target's custom. Raises as `fit`."""
    if flags["train"] and flags["infer"]:
        raise PaddockError("flags-apart", one="--train", other="--infer")
    if not (flags["train"] or flags["infer"]):
        raise PaddockError("flag-needs", one="--model", other=text("fit.wanted.kind"))
    train = bool(flags["train"])
    usual = "float32" if target == "loopback" else "bfloat16" if train else "float16"
    dtype = one_of("--dtype", flags["dtype"] or usual, tuple(BYTES))
    degrees = _degrees(flags)
    own = BYTES[dtype] * 8
    bits = _number(flags, "kv_bits", own)
    usually = target_of(known, target)
    return Wish(
        train=train, batch=_number(flags, "batch", 1), dtype=dtype, kv_bits=bits,
        seq=_number(flags, "seq", min(model.max_position_embeddings, model.positions)),
        sharding=one_of("--sharding", flags["sharding"], SHARDING), **degrees,
        lora=_number(flags, "lora", 0), sequence_parallel=bool(flags["sequence_parallel"]),
        recompute=one_of("--recompute", flags["recompute"] or "none", RECOMPUTE),
        kernels=one_of("--kernels", flags["kernels"] or usually.kernels, KERNELS),
        tables=usually.rotary_tables,
    )  # fmt: skip


def _degrees(flags: dict[str, Any]) -> dict[str, int]:
    """How the cards are shared out. Sharding takes all copies unless told, as the trainer does."""
    tp, pp = _number(flags, "tp", 1), _number(flags, "pp", 1)
    degree = _number(flags, "sharding_degree", 1)
    cards = _number(flags, "cards", tp * pp * degree)
    if flags["sharding"] and not flags["sharding_degree"]:
        degree = max(cards // (tp * pp), 1)
    return {"tp": tp, "pp": pp, "sharding_degree": degree, "cards": cards}


_MOST = 1 << 40


def _number(flags: dict[str, Any], name: str, otherwise: int) -> int:
    """A flag's value as a whole number from 1. Raises PaddockError `bad-option`."""
    value = str(flags[name])
    if not value:
        return otherwise
    option = f"--{name.replace('_', '-')}"
    if name == "kv_bits":
        one_of(option, value, ("4", "8", "16", "32"))
    if (number := count(option, value[:40])) > _MOST:
        wanted = text("fit.wanted.most", most=_MOST)
        raise PaddockError("bad-option", option=option, value=value, wanted=wanted)
    return number


def _notes(target: str, wish: Wish, cards: list[Card]) -> list[str]:
    """What the figures rest on, as keys of sentences `fit.note.NAME`."""
    measured = wish.dtype == "float32" and wish.cards == 1
    measured = measured and wish.kv_bits == BYTES["float32"] * 8
    notes = ["measured" if measured else "computed"]
    notes += ["which-card"] if len(cards) > 1 else []
    notes += ["idle"] if any(card.idle_mib is None for card in cards) else []
    notes += ["communication"] if target == "s60" and wish.groups else []
    notes += ["host"] if target == "loopback" else []
    return [*notes, "accumulation"] if wish.train and wish.pp > 1 else notes
