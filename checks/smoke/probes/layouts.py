"""How PaddleNLP lays the weights of several projections into one, for numpy and Paddle alike.

Of `fuse_attention_qkv`: for each head of keys the heads of queries that share it, then its key,
then its value. Of `fuse_attention_ffn`: all of gate, then all of up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Concat = Callable[[list[Any], int], Any]


def fuse_qkv(parts: Sequence[Any], kv_heads: int, concat: Concat) -> Any:
    """One weight [width, all heads x size] of those of q, k and v; or one bias of theirs."""
    width = list(parts[0].shape[:-1])
    groups = [x.reshape([*width, kv_heads, -1]) for x in parts]
    return concat(groups, -1).reshape([*width, -1])


def split_qkv(mixed: Any, heads: int, kv_heads: int) -> dict[str, Any]:
    """q, k and v, each [batch, sequence, heads, size], of what the one weight has given."""
    batch, length, width = mixed.shape
    size = width // (heads + 2 * kv_heads)
    shared = heads // kv_heads * size
    groups = mixed.reshape([batch, length, kv_heads, -1])
    q, k, v = (groups[..., a:b] for a, b in ((0, shared), (shared, -size), (-size, None)))
    return {"q": q.reshape([batch, length, heads, size]), "k": k, "v": v}


def fuse_gate_up(gate: Any, up: Any, concat: Concat) -> Any:
    """One weight [width, 2 x inner] of both."""
    return concat([gate, up], -1)
