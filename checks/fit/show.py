"""The answer of `fit` as lines for a person."""

from __future__ import annotations

from collections.abc import Iterator

from checks.fit.command import Fit
from checks.fit.judge import MARGIN, Verdict
from checks.fit.memory import Parts
from checks.fit.wish import Wish
from provision.amounts import size
from provision.columns import left, right
from provision.words import text

_PARTS = ("weights", "tables", "gradients", "optimizer", "activations", "attention", "kv_cache",
          "logits", "total")  # fmt: skip
_STAGES = 8  # beyond that the first, the fullest and the last are shown


def lines(found: Fit) -> Iterator[str]:
    """All of it: the run, the parts, the verdicts, what would help, what it rests on."""
    yield text("fit.title", model=found.model.name, target=found.target, run=run(found.run))
    yield from _table(found.stages)
    for verdict in found.cards:
        yield f"  {_verdict(verdict)}"
    yield "  " + text("fit.margin", margin=size(found.cards[0].margin), share=f"{MARGIN:.0%}")
    if found.cards[0].verdict != "fits":
        yield from _changes(found)
    yield "  " + _largest(found.largest)
    yield "  " + text("fit.attention", plain=size(found.attention.plain),
                      tiled=size(found.attention.tiled))  # fmt: skip
    if found.tile:
        yield "  " + text("fit.tile", side=found.tile.side, source=found.tile.source)
    else:
        yield "  " + text("fit.no-tile")
    for note in found.notes:
        yield "  " + text(f"fit.note.{note}")


def _largest(found: dict[str, int]) -> str:
    """The largest batch and length; in words where there is none."""
    if not any(found.values()):
        return text("fit.largest-nothing")
    return text("fit.largest", **{name: most or text("fit.none") for name, most in found.items()})


def run(wish: Wish) -> str:
    """The run in a few words; what is as usual is left out."""
    told = [text("fit.train" if wish.train else "fit.infer"),
            text("fit.shape", batch=wish.batch, seq=wish.seq), wish.dtype]  # fmt: skip
    told += [f"{name} {value}" for name, value in (("tp", wish.tp), ("pp", wish.pp)) if value > 1]
    if wish.sharding:
        told.append(f"{wish.sharding} x {wish.sharding_degree}")
    told += [f"LoRA {wish.lora}"] if wish.lora else []
    told += [f"recompute {wish.recompute}"] if wish.recompute != "none" else []
    told += ["sequence parallel"] if wish.sequence_parallel else []
    told += [] if wish.train else [f"KV {wish.kv_bits} bit"]
    told += [text(f"fit.kernels.{wish.kernels}"), text("fit.cards", count=wish.cards)]
    return text("plan.comma").join(told)


def _table(stages: list[Parts]) -> Iterator[str]:
    """A row a part, a column a stage."""
    shown = stages
    if len(stages) > _STAGES:
        fullest = max(stages, key=lambda one: one.total)
        chosen = {1, fullest.stage, len(stages)}
        shown = [one for one in stages if one.stage in chosen]
    if len(stages) > 1:
        heads = [text("fit.stage", number=one.stage, layers=one.layers) for one in shown]
        yield " " * 20 + "".join(right(head, 22) for head in heads)
    for name in _PARTS:
        values = [getattr(one, name) for one in shown]
        if any(values):
            cells = "".join(f"{size(value):>{22 if len(stages) > 1 else 12}}" for value in values)
            yield f"    {left(text(f'fit.part.{name}'), 16)}{cells}"


def _verdict(one: Verdict) -> str:
    """A card: what it has, whether the run fits, and what was set aside."""
    said = text(f"fit.verdict.{one.verdict}", left=size(abs(one.left)))
    aside = {"idle": one.idle, "communication": one.communication}
    told = {name: text("fit.unknown") if value is None else size(value)
            for name, value in aside.items()}  # fmt: skip
    return text("fit.verdict", card=one.card, memory=size(one.memory), said=said, **told)


def _changes(found: Fit) -> Iterator[str]:
    """What would make it fit."""
    card = found.cards[0].card
    if not found.changes:
        yield "  " + text("fit.no-change", card=card)
        return
    yield "  " + text("fit.changes", card=card)
    for options in found.changes:
        yield "      " + "  ".join(options)
