"""The tiny Llama that levels train and export: its sizes, and whether a run of it fits."""

from __future__ import annotations

import msgspec

from checks.fit.cards import cards_of, memory, target_of
from checks.fit.judge import Room, Verdict
from checks.fit.model import Model
from checks.fit.wish import Wish
from checks.smoke.demands import Demand
from checks.smoke.settings import Level
from provision.amounts import size
from provision.errors import PaddockError
from provision.words import text

MODEL = Model(
    name="tiny-llama", hidden_size=64, intermediate_size=128, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, vocab_size=2000, max_position_embeddings=64,
)  # fmt: skip
BATCH, LENGTH = 2, 48  # sequences, and tokens of each


def spec() -> dict[str, object]:
    """What a probe needs to build it, as JSON values: its config, and the shape of its ids."""
    config = msgspec.to_builtins(MODEL)
    del config["name"]
    return {"config": config, "shape": [BATCH, LENGTH]}


def fits(target: str, level: Level) -> list[Demand]:
    """Whether a level that trains or exports it fits on a target's cards, as `fit` estimates.

    Nothing for the other levels. Memory that cannot be read is told, and no reason not to try.
    """
    if level not in ("train", "deploy"):
        return []
    try:
        verdict = _worst(target, Wish(train=level == "train", batch=BATCH, seq=LENGTH,
                                      dtype="float32", kv_bits=32, kernels="plain"))  # fmt: skip
    except PaddockError as error:
        return [Demand("fits", error.part("what"), None)]
    left = text(f"fit.verdict.{verdict.verdict}", left=size(abs(verdict.left)))
    said = text("smoke.fits", needed=size(verdict.needed), card=verdict.card,
                memory=size(verdict.memory), said=left)  # fmt: skip
    return [Demand("fits", said, said if verdict.verdict == "no" else None)]


def _worst(target: str, wish: Wish) -> Verdict:
    """The verdict for the card with the least room. Raises PaddockError `memory-unread`."""
    known = memory()
    cards = cards_of(known, target, "", "")
    verdicts = [Room(MODEL, card, target_of(known, target)).judge(wish) for card in cards]
    return min(verdicts, key=lambda one: one.left)
