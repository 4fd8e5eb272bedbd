"""The parameters of one card, and the memory that they and what belongs to them take.

Counted as PaddleNLP builds the model (paddlenlp 3.0.0b4, transformers/llama/modeling.py).
"""

from __future__ import annotations

from typing import NamedTuple

from checks.fit.model import Model
from checks.fit.wish import Wish

_FLOAT = 4  # bytes; master weights, moments and rotary tables are float32 whatever the model is


class Stage(NamedTuple):
    """One pipeline stage: its number from 0, its layers, and whether it is the last one."""

    number: int
    layers: int
    last: bool


def stages(model: Model, wish: Wish) -> list[Stage]:
    """All stages: every one has as many layers, the first the embedding, the last the head."""
    layers = model.num_hidden_layers // wish.pp
    return [Stage(number, layers, number == wish.pp - 1) for number in range(wish.pp)]


def kv_width(model: Model, tp: int) -> int:
    """Columns of K, and of V, on one card.

    Key heads that do not divide by `tp` are not split: every card has all of them.
    """
    heads = model.num_key_value_heads
    return (heads // tp if heads % tp == 0 else heads) * model.head_size


def vocabulary(model: Model, tp: int) -> int:
    """Rows of the embedding, and columns of the head, on one card; whole where `tp` divides not."""
    return model.vocab_size // tp if model.vocab_size % tp == 0 else model.vocab_size


def layer(model: Model, tp: int) -> int:
    """Parameters of one decoder layer on one card: two norms, q, k, v, o, gate, up, down."""
    h, f, kv = model.hidden_size, model.intermediate_size, kv_width(model, tp)
    return 2 * h + 2 * h * h // tp + 2 * h * kv + 3 * h * f // tp


def ends(model: Model, wish: Wish, stage: Stage) -> int:
    """Parameters of the embedding, the last norm and the head, where the stage has them.

    A tied head is the embedding; a last stage that is not the first holds a copy of it.
    """
    table = vocabulary(model, wish.tp) * model.hidden_size
    first = table if stage.number == 0 else 0
    if not stage.last:
        return first
    shared = model.tie_word_embeddings and stage.number == 0
    return first + model.hidden_size + (0 if shared else table)


def parameters(model: Model, wish: Wish, stage: Stage) -> int:
    """All parameters of a stage on one card, without adapters."""
    return stage.layers * layer(model, wish.tp) + ends(model, wish, stage)


def adapters(model: Model, wish: Wish, stage: Stage) -> int:
    """Parameters of LoRA on one card: r rows in and out of each of a layer's seven products.

    PaddleNLP adapts q, k, v, o, gate, up and down. With tensor parallelism one of the two matrices
    is split as the product is: B where the product splits its columns, A where it splits its rows.
    """
    h, f, kv, tp = model.hidden_size, model.intermediate_size, kv_width(model, wish.tp), wish.tp
    columns = 5 * h + h // tp + 2 * kv + 2 * f // tp  # q, k, v, gate, up: A whole, B split
    rows = h // tp + f // tp + 2 * h  # o, down: A split, B whole
    return stage.layers * wish.lora * (columns + rows)


class State(NamedTuple):
    """What stays on a card as long as the run lasts, in bytes. `tables`: sines and cosines."""

    weights: int
    tables: int
    gradients: int
    optimizer: int


def state(model: Model, wish: Wish, stage: Stage) -> State:
    """Weights and what training adds to them.

    AdamW keeps two moments, and for a 16-bit model a master copy of the weights (level O2), all
    float32. Gradients are float32 under amp_master_grad, which the launch scripts switch on and
    PaddleNLP allows with tensor or pipeline parallelism or sharding stage1; else of the model's
    dtype. They stay between steps: the trainer sets them to zero.

    Of sharding, stage1 divides the optimizer's part, stage2 the gradients too, stage3 the weights
    too, here evenly, as with fused tensors; else whole parameters are dealt out, nearly evenly.
    With LoRA only the adapters have gradients and states. Each layer has its own tables of sines
    and cosines, never split.
    """
    size, degree = wish.size, wish.sharding_degree
    tables = stage.layers * wish.tables * _rows(model, wish) * model.head_size * _FLOAT
    fixed = parameters(model, wish, stage)
    if not wish.train:
        return State(fixed * size, tables, 0, 0)
    extra = adapters(model, wish, stage)
    trained = extra if wish.lora else fixed
    master = wish.tp * wish.pp > 1 or wish.sharding == "stage1"
    gradient = _FLOAT if master else size
    moments = 2 * _FLOAT + (_FLOAT if size < _FLOAT else 0)
    by = {"": 0, "stage1": 1, "stage2": 2, "stage3": 3}[wish.sharding]
    weights = _share((fixed + extra) * size, degree if by > 2 else 1)  # noqa: PLR2004 - stage3
    return State(
        weights, tables, _share(trained * gradient, degree if by > 1 else 1),
        _share(trained * moments, degree if by else 1),
    )  # fmt: skip


def _rows(model: Model, wish: Wish) -> int:
    """Positions in a layer's rotary tables.

    Those that dynamic_ntk computes for a longer sequence live as long as the layer runs; here each
    layer has them, which is the most that may be.
    """
    return model.positions if model.longest else max(model.positions, wish.seq)


def gathered(model: Model, wish: Wish) -> int:
    """Bytes of the largest part that sharding stage3 puts together to compute with it."""
    if wish.sharding != "stage3":
        return 0
    table = vocabulary(model, wish.tp) * model.hidden_size
    return max(layer(model, wish.tp), table) * wish.size


def _share(total: int, degree: int) -> int:
    """One card's share, rounded up."""
    return -(-total // degree)
