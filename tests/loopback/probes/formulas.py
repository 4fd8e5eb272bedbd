"""The plain formulas of the fused operators and their gradients, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def rms_norm(x: Array, weight: Array, epsilon: float) -> Array:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) * weight


def rms_norm_grad(x: Array, weight: Array, epsilon: float, dy: Array) -> tuple[Array, Array]:
    scale = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon)
    normed = x * scale
    straight = dy * weight
    dx = scale * (straight - normed * np.mean(straight * normed, axis=-1, keepdims=True))
    return dx, np.sum((dy * normed).reshape(-1, x.shape[-1]), axis=0)


def _half_turned(x: Array) -> Array:
    low, high = np.split(x, 2, axis=-1)
    return np.concatenate([-high, low], axis=-1)


def rotary(x: Array, cos: Array, sin: Array) -> Array:
    return x * cos[None, :, None] + _half_turned(x) * sin[None, :, None]


def rotary_grad(dy: Array, cos: Array, sin: Array) -> Array:
    return dy * cos[None, :, None] - _half_turned(dy * sin[None, :, None])


def _by_head(x: Array, copies: int = 1) -> Array:
    """[batch, seq, heads, dim] -> [batch, heads * copies, seq, dim], copies side by side."""
    return np.repeat(x.transpose(0, 2, 1, 3), copies, axis=1)


def _weights(q: Array, k: Array, causal: bool, scale: float) -> Array:
    scores = scale * _by_head(q) @ _by_head(k, q.shape[2] // k.shape[2]).swapaxes(-1, -2)
    seq_q, seq_k = scores.shape[-2:]
    seen = np.tril(np.ones((seq_q, seq_k), dtype=bool), seq_k - seq_q) if causal else True
    scores = np.where(seen, scores, -np.inf)
    highest = np.max(scores, axis=-1, keepdims=True, initial=-1e300)
    weights = np.where(seen, np.exp(scores - highest), 0)
    total = np.sum(weights, axis=-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def attention(q: Array, k: Array, v: Array, causal: bool, scale: float) -> Array:
    values = _by_head(v, q.shape[2] // v.shape[2])
    return (_weights(q, k, causal, scale) @ values).transpose(0, 2, 1, 3)


def _summed_groups(x: Array, heads: int) -> Array:
    """[batch, many heads, seq, dim] -> [batch, seq, heads, dim], neighbours added up."""
    batch, many, seq, dim = x.shape
    return x.reshape(batch, heads, many // heads, seq, dim).sum(axis=2).transpose(0, 2, 1, 3)


def attention_grad(
    inputs: tuple[Array, Array, Array], causal: bool, scale: float, dout: Array
) -> tuple[Array, Array, Array]:
    q, k, v = inputs
    copies, kv_heads = q.shape[2] // k.shape[2], k.shape[2]
    weights, dout = _weights(q, k, causal, scale), _by_head(dout)
    dweights = dout @ _by_head(v, copies).swapaxes(-1, -2)
    dscores = weights * (dweights - np.sum(dweights * weights, axis=-1, keepdims=True))
    dq = (scale * dscores @ _by_head(k, copies)).transpose(0, 2, 1, 3)
    dk = _summed_groups(scale * dscores.swapaxes(-1, -2) @ _by_head(q), kv_heads)
    return dq, dk, _summed_groups(weights.swapaxes(-1, -2) @ dout, kv_heads)
