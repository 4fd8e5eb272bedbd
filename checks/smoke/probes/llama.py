"""A Llama model's forward pass in Paddle, and a text's perplexity under it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import paddle
from weights import Model

Tensor = Any  # a paddle tensor


class Kernels(Protocol):
    """The three operations that every backend also has as one fused kernel."""

    def rms_norm(self, x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
        """Rows of x scaled to root mean square 1, times weight."""

    def rotate(self, q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> Sequence[Tensor]:
        """Rotary embedding by halves of q and k, both [batch, sequence, heads, size]."""

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Causal attention over [batch, sequence, heads, size]; k and v may have fewer heads."""


class Plain:
    """The three operations written out in Paddle's elementary ones."""

    def rms_norm(self, x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
        """See Kernels."""
        return x * paddle.rsqrt((x * x).mean(-1, keepdim=True) + epsilon) * weight

    def rotate(self, q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> Sequence[Tensor]:
        """See Kernels; cos and sin are [sequence, size]."""
        cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
        return [x * cos + half_turned(x) * sin for x in (q, k)]

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """See Kernels."""
        shared = q.shape[2] // k.shape[2]
        k, v = (paddle.repeat_interleave(x, shared, 2) for x in (k, v))
        q, k, v = (x.transpose([0, 2, 1, 3]) for x in (q, k, v))
        scores = paddle.matmul(q, k, transpose_y=True) * q.shape[-1] ** -0.5
        rows, columns = scores.shape[-2:]  # of the newest queries, and of all keys
        hidden = paddle.triu(paddle.full([rows, columns], -1e9), 1 + columns - rows)
        mixed = paddle.matmul(paddle.nn.functional.softmax(scores + hidden), v)
        return mixed.transpose([0, 2, 1, 3])


class Fused:
    """The three operations as the backend's fused kernels."""

    def __init__(self, ops: Any) -> None:
        self._ops = ops

    def rms_norm(self, x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
        """See Kernels."""
        return self._ops.rms_norm(x, weight, epsilon)

    def rotate(self, q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> Sequence[Tensor]:
        """See Kernels."""
        turned: Sequence[Tensor] = self._ops.rotary_embedding(q, k, cos, sin)
        return turned

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """See Kernels."""
        return self._ops.flash_attention(q, k, v, causal=True)


def half_turned(x: Tensor) -> Tensor:
    """The halves of the last axis swapped, the then first one negated."""
    first, second = paddle.split(x, 2, -1)
    return paddle.concat([-second, first], -1)


class Past:
    """Keys and values [1, tokens, heads, size] of each block, for the tokens so far."""

    def __init__(self) -> None:
        self.length = 0
        self._kept: dict[str, tuple[Tensor, Tensor]] = {}

    def extend(self, block: str, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """All of a block's keys and values, the new ones at the end."""
        if block in self._kept:
            k, v = (paddle.concat(two, 1) for two in zip(self._kept[block], (k, v), strict=True))
        self._kept[block] = k, v
        return k, v


class Llama:
    """The model's weights on the current default device, and how to run them."""

    def __init__(self, model: Model, kernels: Kernels) -> None:
        self.sizes = model.sizes
        self.kernels = kernels
        self.weights = {name: paddle.to_tensor(w) for name, w in model.weights.items()}

    def logits(self, ids: Sequence[int], past: Past | None = None) -> Tensor:
        """The scores [tokens, vocabulary] of what follows each token; `past` takes them in."""
        w, past = self.weights, past or Past()
        x = paddle.nn.functional.embedding(paddle.to_tensor([ids]), w["token_embd.weight"])
        angles = self._angles(past.length, len(ids))
        for layer in range(self.sizes.layers):
            x = x + self._attention(f"blk.{layer}", x, angles, past)
            x = x + self._feed_forward(f"blk.{layer}", x)
        past.length += len(ids)
        x = self._norm("output_norm", x)
        head = w.get("output.weight", w["token_embd.weight"])  # absent where embeddings are tied
        return paddle.matmul(x[0], head, transpose_y=True)

    def _norm(self, name: str, x: Tensor) -> Tensor:
        return self.kernels.rms_norm(x, self.weights[f"{name}.weight"], self.sizes.epsilon)

    def _linear(self, name: str, x: Tensor) -> Tensor:
        return paddle.matmul(x, self.weights[f"{name}.weight"], transpose_y=True)

    def _attention(self, block: str, x: Tensor, angles: Sequence[Tensor], past: Past) -> Tensor:
        batch, length = x.shape[:2]
        x = self._norm(f"{block}.attn_norm", x)
        heads = (self.sizes.heads, self.sizes.kv_heads, self.sizes.kv_heads)
        q, k, v = (
            self._linear(f"{block}.attn_{name}", x).reshape([batch, length, n, -1])
            for name, n in zip("qkv", heads, strict=True)
        )
        q, k = self.kernels.rotate(q, k, *angles)
        mixed = self.kernels.attend(q, *past.extend(block, k, v)).reshape([batch, length, -1])
        return self._linear(f"{block}.attn_output", mixed)

    def _feed_forward(self, block: str, x: Tensor) -> Tensor:
        x = self._norm(f"{block}.ffn_norm", x)
        gate = paddle.nn.functional.silu(self._linear(f"{block}.ffn_gate", x))
        return self._linear(f"{block}.ffn_down", gate * self._linear(f"{block}.ffn_up", x))

    def _angles(self, start: int, length: int) -> list[Tensor]:
        """Cosines and sines [length, size of a head] of rotary embedding by halves."""
        size = self.weights["blk.0.attn_q.weight"].shape[0] // self.sizes.heads
        speeds = self.sizes.rope_base ** (-np.arange(0, size, 2, dtype="float64") / size)
        turns = np.outer(np.arange(start, start + length), np.concatenate([speeds, speeds]))
        return [paddle.to_tensor(f(turns).astype("float32")) for f in (np.cos, np.sin)]


def windows(ids: Sequence[int], size: int) -> list[Sequence[int]]:
    """Windows of `size` tokens, one after another; a rest of one token predicts nothing."""
    cut = [ids[start : start + size] for start in range(0, len(ids), size)]
    return [part for part in cut if len(part) > 1]


def window_losses(
    model: Llama, parts: Sequence[Sequence[int]], seen: Callable[[Tensor], object]
) -> list[float]:
    """For each window the sum of -log p, in nats, over its tokens but the first.

    `seen` gets each window's tensor of losses: the proof of place, and a sign of life.
    """
    sums = []
    for part in parts:
        with paddle.no_grad():
            logits = model.logits(part[:-1])
            losses = paddle.nn.functional.cross_entropy(
                logits, paddle.to_tensor(part[1:]), reduction="none"
            )
        seen(losses)
        sums.append(float(losses.numpy().sum(dtype="float64")))
    return sums


def mean_loss(sums: Sequence[float], parts: Sequence[Sequence[int]]) -> float:
    """The mean of -log p over all predicted tokens, in nats; perplexity is its exponential."""
    return sum(sums) / sum(len(part) - 1 for part in parts)
