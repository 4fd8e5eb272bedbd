"""The memory of a run, for each pipeline stage, as the sum of named parts."""

from __future__ import annotations

import msgspec

from checks.fit import activations, weights
from checks.fit.model import Model
from checks.fit.wish import Wish

# A 4-bit cache is quantised in groups of 32 values that share one 16-bit scale; with 8 bits the
# scales are one for each head, which is nothing beside the rest.
_SCALE_BITS = {4: 16 / 32}


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """One card of one stage, in bytes. `stage` counts from 1.

    `activations` are kept for the backward pass, or needed by the widest phase of a forward pass;
    `attention` are scores, whole or in tiles; what is zero does not occur.
    """

    stage: int
    layers: int
    weights: int
    tables: int
    gradients: int
    optimizer: int
    activations: int
    attention: int
    kv_cache: int
    logits: int
    total: int


class Attention(msgspec.Struct, frozen=True):
    """What the scores of attention take on the fullest card, in bytes, by formulas and in tiles."""

    plain: int
    tiled: int


def parts(model: Model, wish: Wish) -> list[Parts]:
    """All stages."""
    build = _training if wish.train else _inference
    return [build(model, wish, stage) for stage in weights.stages(model, wish)]


def most(model: Model, wish: Wish) -> int:
    """Bytes on the fullest card."""
    return max(one.total for one in parts(model, wish))


def attention(model: Model, wish: Wish) -> Attention:
    """The same run with either kind of attention: what its scores take."""
    both = [max(_scores(model, wish, stage, kernels) for stage in weights.stages(model, wish))
            for kernels in ("plain", "fused")]  # fmt: skip
    return Attention(*both)


def _scores(model: Model, wish: Wish, stage: weights.Stage, kernels: str) -> int:
    """Scores that all layers of a stage keep, and those of the layer that runs."""
    one = activations.layer(model, wish, kernels)
    if not wish.train:
        return one.working
    kept = 0 if wish.recompute != "none" else one.scores
    layers = stage.layers * in_flight(wish, stage)
    return kept * (layers - 1) + max(one.working, one.scores)


def in_flight(wish: Wish, stage: weights.Stage) -> int:
    """Micro-batches whose activations a stage holds at once.

    One forward, one backward: the first stage has sent `pp` of them on before the first comes back,
    each later stage one fewer. It takes at least `pp` steps of accumulation to come to that.
    """
    return wish.pp - stage.number


def _training(model: Model, wish: Wish, stage: weights.Stage) -> Parts:
    """A training step. The largest of two moments counts: a layer at work, or the loss."""
    one = activations.layer(model, wish, wish.kernels)
    kept = stage.layers * in_flight(wish, stage) * activations.kept(one, wish.recompute)
    at_work = activations.peak(one, kept, wish.recompute) + weights.gathered(model, wish)
    norm, logits = activations.head(model, wish) if stage.last else (0, 0)
    loss = kept + norm + logits
    if loss < at_work:
        logits = 0
    scores = min(_scores(model, wish, stage, wish.kernels), at_work)
    if logits:  # no layer is at work: there are only the scores that all of them keep
        scores = 0 if wish.recompute != "none" else one.scores * stage.layers
    whole = max(at_work, loss)
    return _parts(model, wish, stage, whole - scores - logits, scores, 0, logits)


def _inference(model: Model, wish: Wish, stage: weights.Stage) -> Parts:
    """A forward pass over `seq` tokens that fills the cache of keys and values."""
    phases = activations.running(model, wish, wish.kernels)
    one = activations.layer(model, wish, wish.kernels)
    bits = wish.kv_bits + _SCALE_BITS.get(wish.kv_bits, 0)
    width = weights.kv_width(model, wish.tp)
    cache = int(2 * stage.layers * wish.batch * wish.seq * width * bits / 8)
    if stage.last and phases.logits > max(phases.attention, phases.mlp):
        logits = wish.batch * wish.seq * model.vocab_size * wish.size
        return _parts(model, wish, stage, phases.logits - logits, 0, cache, logits)
    if phases.attention >= phases.mlp:
        rest = phases.attention - one.working
        return _parts(model, wish, stage, rest, one.working, cache, 0)
    return _parts(model, wish, stage, phases.mlp, 0, cache, 0)


def _parts(  # noqa: PLR0913, PLR0917 - one argument a part
    model: Model, wish: Wish, stage: weights.Stage, running: int, scores: int, cache: int,
    logits: int,
) -> Parts:  # fmt: skip
    """The parts with their sum."""
    state = weights.state(model, wish, stage)
    values = {**state._asdict(), "activations": running, "attention": scores, "kv_cache": cache,
              "logits": logits}  # fmt: skip
    total = sum(values.values())
    return Parts(stage=stage.number + 1, layers=stage.layers, total=total, **values)
