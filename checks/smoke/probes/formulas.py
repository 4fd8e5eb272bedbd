"""The fused operators as plain formulas in float64, forward and backward: slow and clear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any  # a float64 numpy array


def rms_norm(x: Array, weight: Array, epsilon: float) -> Array:
    """x / sqrt(mean(x^2) + epsilon) * weight over the last axis."""
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight


def rms_norm_backward(x: Array, weight: Array, epsilon: float, g: Array) -> list[Array]:
    """The gradients by x and by weight, for the gradient g of the result."""
    scale = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
    inner = (g * weight * x).mean(-1, keepdims=True)
    by_weight = (g * x * scale).reshape(-1, x.shape[-1]).sum(0)
    return [scale * g * weight - scale**3 * x * inner, by_weight]


def rotated(x: Array, cos: Array, sin: Array) -> Array:
    """Rotary embedding by halves; x is [batch, sequence, heads, size], cos and sin its 2nd, 4th."""
    half = x.shape[-1] // 2
    turned = np.concatenate([-x[..., half:], x[..., :half]], -1)
    return x * cos[None, :, None] + turned * sin[None, :, None]


def rotated_backward(g: Array, cos: Array, sin: Array) -> Array:
    """The gradient by x, for the gradient g of the result."""
    half = g.shape[-1] // 2
    weighted = g * sin[None, :, None]
    turned = np.concatenate([weighted[..., half:], -weighted[..., :half]], -1)
    return g * cos[None, :, None] + turned


def visible(rows: int, columns: int, causal: bool, lengths: Sequence[int] = ()) -> Array:
    """What queries see of keys, [batch or 1, 1, rows, columns].

    A causal mask is aligned to the end. `lengths`: how many keys there are in each sequence of the
    batch, the rest being padding.
    """
    seen = np.tril(np.ones((rows, columns), bool), columns - rows if causal else columns)
    real = np.arange(columns) < np.array(lengths or [columns])[:, None]
    return seen & real[:, None, None]


def attention(q: Array, k: Array, v: Array, seen: Array) -> tuple[Array, Array]:
    """Attention over [batch, sequence, heads, size], and its weights [batch, heads, q, k].

    k and v may have fewer heads, each shared by neighbouring heads of q. `seen` is as of `visible`;
    a query that sees nothing gets zeros.
    """
    shared = q.shape[2] // k.shape[2]
    q, k, v = by_head(q), by_head(k).repeat(shared, 1), by_head(v).repeat(shared, 1)
    scores = np.where(seen, q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), -np.inf)
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(top), top, 0))
    weights /= np.maximum(weights.sum(-1, keepdims=True), np.finfo("float64").tiny)
    return by_head(weights @ v), weights


def attention_backward(
    q: Array, k: Array, v: Array, weights: Array, g: Array
) -> Sequence[Array]:  # fmt: skip
    """The gradients by q, k and v, for the forward's weights and the gradient g of the result."""
    heads, own = q.shape[2], k.shape[2]
    q, k, v, g = by_head(q), by_head(k), by_head(v), by_head(g)
    k, v = k.repeat(heads // own, 1), v.repeat(heads // own, 1)
    by_weights = g @ v.swapaxes(-1, -2)
    by_scores = weights * (by_weights - (by_weights * weights).sum(-1, keepdims=True))
    by_scores /= np.sqrt(q.shape[-1])
    by_k, by_v = by_scores.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ g
    return [by_head(by_scores @ k), by_head(gathered(by_k, own)), by_head(gathered(by_v, own))]


def swiglu(gate: Array, up: Array) -> Array:
    """silu(gate) * up."""
    return gate / (1 + np.exp(-gate)) * up


def swiglu_backward(gate: Array, up: Array, g: Array) -> list[Array]:
    """The gradients by gate and by up, for the gradient g of the result."""
    share = 1 / (1 + np.exp(-gate))
    return [g * up * share * (1 + gate * (1 - share)), g * gate * share]


def linear_backward(x: Array, weight: Array, g: Array) -> list[Array]:
    """The gradients by x and by weight of x @ weight, for the gradient g of the result."""
    rows = x.reshape(-1, x.shape[-1])
    return [g @ weight.T, rows.T @ g.reshape(-1, weight.shape[-1])]


def by_head(x: Array) -> Array:
    """[batch, sequence, heads, size] to [batch, heads, sequence, size], or back."""
    return x.transpose(0, 2, 1, 3)


def gathered(x: Array, heads: int) -> Array:
    """The sum over those neighbouring heads that share one: [batch, heads, sequence, size]."""
    batch, _, length, size = x.shape
    return x.reshape(batch, heads, -1, length, size).sum(2)
