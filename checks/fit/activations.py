"""What one layer keeps for the backward pass, and what it needs besides while it runs.

Each figure follows the tensors that Paddle's operators keep for their gradients when PaddleNLP's
Llama runs (paddlenlp 3.0.0b4, transformers/llama/modeling.py; paddlepaddle 3.3.1). For float32 it
was measured, `fused` with the operators of loopback; 16 bits follow the same code and were not.

Letters, per card: T tokens of a micro-batch, h the hidden size, d the size of a head, S bytes of
a value of the model's dtype. Everything is in bytes.
"""

from __future__ import annotations

from typing import NamedTuple

from checks.fit import weights
from checks.fit.model import Model
from checks.fit.wish import Wish

_FLOAT = 4


class Layer(NamedTuple):
    """One layer's memory, in bytes.

    Kept for its gradients: `norm` (each of two), `rope`, `core` (attention without its scores),
    `scores` (or with tiles a sum for each row), `out` and `mlp`, with `lora` the adapters' part.
    While it runs: `working` (scores that are gone after it) and `mask`. `row` is T x h.
    """

    row: int
    norm: int
    rope: int
    core: int
    scores: int
    out: int
    mlp: int
    lora: int
    working: int
    mask: int

    @property
    def kept(self) -> int:
        """All that it keeps when nothing is computed anew."""
        return 2 * self.norm + self.rope + self.core + self.scores + self.out + self.mlp + self.lora

    @property
    def attending(self) -> int:
        """What there is at the widest point of attention, its scores included; q is there twice."""
        return self.norm + self.rope + self.core + self.row + self.working + self.mask


def layer(model: Model, wish: Wish, kernels: str) -> Layer:
    """The memory of one layer for one micro-batch."""
    return (_fused if kernels == "fused" else _plain)(model, wish)


class _Sizes(NamedTuple):
    """The tensors that occur: bytes in the model's dtype, `tokens` and `cells` as counts.

    `row` is T x h as the norms see it (divided by sequence parallelism), `q` the part of one card,
    `kv` one of K and V, `ffn` one of gate and up, `cells` are scores: batch x heads x seq x seq.
    """

    tokens: int
    row: int
    q: int
    kv: int
    ffn: int
    cells: int
    mask: int
    lora: int


def _sizes(model: Model, wish: Wish) -> _Sizes:
    tokens, size, tp = wish.batch * wish.seq, wish.size, wish.tp
    row = tokens * model.hidden_size * size
    return _Sizes(
        tokens, row // tp if wish.sequence_parallel else row, row // tp,
        tokens * weights.kv_width(model, tp) * size, tokens * model.intermediate_size * size // tp,
        tokens * wish.seq * model.num_attention_heads // tp, tokens * wish.seq * size,
        7 * tokens * wish.lora * size,
    )  # fmt: skip


def _norm_plain(wish: Wish, row: int) -> int:
    """RMSNorm by formulas keeps its input and the scaled input, and its output for what follows.

    At 16 bits the first two are float32: one for the square, one for the product.
    """
    return 3 * row if wish.size == _FLOAT else 2 * (row // wish.size) * _FLOAT + 2 * row


def _plain(model: Model, wish: Wish) -> Layer:
    """Attention by formulas.

    RoPE keeps q and k and both turned by halves, and the sines and cosines of the positions. The
    products keep the scaled q, and k and v repeated to as many heads as q has. Softmax runs in
    float32 and keeps its result; at 16 bits a copy of the model's dtype is kept, too. While it
    runs there are the scores, the scores in float32 times a factor, and the result.
    """
    s = _sizes(model, wish)
    rope = 2 * s.q + 2 * s.kv + 2 * s.tokens * model.head_size * wish.size
    half = 0 if wish.size == _FLOAT else wish.size
    return Layer(
        row=s.row, norm=_norm_plain(wish, s.row), rope=rope, core=3 * s.q,
        scores=s.cells * (_FLOAT + half), out=s.q, mlp=3 * s.ffn, lora=s.lora,
        working=s.cells * (wish.size + 2 * _FLOAT), mask=s.mask,
    )  # fmt: skip


def _fused(model: Model, wish: Wish) -> Layer:
    """Fused operators.

    RMSNorm keeps input and output, RoPE nothing, attention q, k and v as they are, its output (the
    same tensor as `out`) and a float32 sum for each row of scores; the scores exist in tiles only.
    """
    s = _sizes(model, wish)
    sums = s.cells // wish.seq * _FLOAT
    return Layer(
        row=s.row, norm=2 * s.row, rope=0, core=s.q + 2 * s.kv, scores=sums, out=s.q,
        mlp=3 * s.ffn, lora=s.lora, working=sums, mask=s.mask,
    )  # fmt: skip


def kept(one: Layer, recompute: str) -> int:
    """What a layer keeps when a part of it is computed anew in the backward pass.

    `full` keeps the layer's input, `full_attn` also what is outside of attention (whose input is
    the norm's output), `core_attn` also q, k and v.
    """
    if recompute == "full":
        return one.row
    inside = {"none": 0, "core_attn": one.scores,
              "full_attn": one.rope + one.core + one.scores + one.out}  # fmt: skip
    return one.kept - inside[recompute]


def peak(one: Layer, kept_by_all: int, recompute: str) -> int:
    """The most while a layer runs, or a part of it runs again, on top of what all layers keep.

    Without recomputing that is the last layer's attention, when the rest of that layer is not kept
    yet. With it the part runs again, without what is kept of it, and the gradient that came down
    to it is there. Either way the gradients within the feed-forward part are as large as what it
    kept.
    """
    below = one.row + one.mlp
    if recompute == "none":
        return kept_by_all + max(one.attending - one.kept, below)
    there = {"core_attn": one.norm + one.rope + one.core, "full_attn": one.norm, "full": 0}
    again = one.kept - kept(one, recompute) + (one.mlp if recompute == "full" else 0)
    return kept_by_all + max(one.row + max(one.attending - there[recompute], again), below)


def head(model: Model, wish: Wish) -> tuple[int, int]:
    """The last norm with its output, and the logits with the loss, for one micro-batch.

    The loss is computed in float32: logits and their softmax, which the backward pass turns into
    the gradient; at 16 bits the logits are there in their own dtype, too. With tensor parallelism
    each card has its part of the vocabulary (tensor_parallel_output).
    """
    s = _sizes(model, wish)
    norm = 2 * s.row if wish.kernels == "fused" else _norm_plain(wish, s.row)
    half = 0 if wish.size == _FLOAT else wish.size
    return norm, s.tokens * weights.vocabulary(model, wish.tp) * (2 * _FLOAT + half)


class Running(NamedTuple):
    """The phases of a forward pass without gradients, in bytes; the largest counts."""

    attention: int
    mlp: int
    logits: int


def running(model: Model, wish: Wish, kernels: str) -> Running:
    """What a forward pass needs besides weights and cache.

    There are the embedded input, the layer's input and its normed form, then q, k and v (repeated
    to as many heads by `plain`) and the scores, or the parts of the feed-forward product. At the
    end PaddleNLP makes the logits of all positions, whole on each card.
    """
    s, one = _sizes(model, wish), layer(model, wish, kernels)
    rows, cached = 3 * s.row, 2 * s.kv
    qkv = s.q + (cached if kernels == "fused" else 2 * s.q)
    logits = s.tokens * model.vocab_size * wish.size
    return Running(
        rows + qkv + one.working + s.mask, rows + 3 * s.ffn + s.mask, 2 * s.row + logits
    )  # fmt: skip
