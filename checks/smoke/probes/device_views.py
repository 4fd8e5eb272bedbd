"""Device checks: tensors that are not contiguous, and indexing. These need the plugin's kernels."""

from __future__ import annotations

import numpy as np
import paddle
from device_math import normal
from target import Array, Target, Tensor


def transposes(target: Target) -> str:
    """A transposed view reshapes and computes as if it were contiguous."""
    a = normal(1, 2, 3, 4, 5)
    target.agree(lambda x: x.transpose([3, 0, 2, 1]).reshape([5, -1]), a)
    return target.agree(lambda x: x.transpose([0, 2, 1, 3]) * 2 + 1, a)


def slices(target: Target) -> str:
    """Slices with steps, backwards too, of every rank from 1 to 5."""
    for rank in range(1, 6):
        a = normal(rank, *(6,) * rank)
        target.agree(lambda x: [x[::2], x[..., 1::2], x[..., ::-1]], a)
    return target.agree(lambda x: x[:, 1:3, None, ::2] + 1, normal(6, 4, 4, 4))


def strided_dtypes(target: Target) -> str:
    """Making a view contiguous works for every width of element."""
    for dtype in ("bool", "int8", "float16", "int32", "int64", "float64"):
        target.agree(lambda x: x.transpose([1, 0]).contiguous(), normal(7, 5, 6, dtype=dtype))
    return "6 dtypes"


def writes(target: Target) -> str:
    """Writing through a slice or a transposed view changes the tensor below it, nothing else."""

    def through_slice(x: Tensor, y: Tensor) -> Tensor:
        x[1:5:2, ::3] = y
        return x

    def through_view(x: Tensor, y: Tensor) -> Tensor:
        view = x.transpose([1, 0])
        view[2:4] = y
        return x

    target.agree(through_slice, normal(8, 6, 9), normal(9, 2, 3))
    return target.agree(through_view, normal(10, 6, 9), normal(11, 2, 6))


def fills(target: Target) -> str:
    """A constant written into a part fills just that part."""

    def part(x: Tensor) -> Tensor:
        x[:, 2:4] = 7.0
        return x

    return target.agree(part, normal(12, 5, 6))


def indexing(target: Target) -> str:
    """Rows by number, elements by mask, gather and scatter."""
    a, rows = normal(13, 7, 4), np.array([6, 0, 3, 3], "int64")
    target.agree(lambda x, i: [x[i], paddle.gather(x, i), paddle.index_select(x, i)], a, rows)
    target.agree(lambda x: [x[x > 0], paddle.nonzero(x > 0)], a)
    return target.agree(
        lambda x, i, u: paddle.scatter_nd_add(x, i.unsqueeze(-1), u), a, rows, normal(14, 4, 4)
    )


def joins(target: Target) -> str:
    """Concatenation, stacking, splitting, tiling and padding."""
    a, b = normal(15, 3, 4), normal(16, 3, 4)
    target.agree(lambda x, y: [paddle.concat([x, y], 1), paddle.stack([x, y])], a, b)
    target.agree(lambda x: paddle.split(x, 2, axis=1), a)
    return target.agree(lambda x: [paddle.tile(x, [2, 3]), x.expand([2, 3, 4])], a)


def embeddings(target: Target) -> str:
    """Rows of a table by token ids, as a language model reads them."""
    ids = np.array([[0, 9, 3], [7, 7, 1]], "int64")
    return target.agree(paddle.nn.functional.embedding, ids, normal(17, 10, 8))


def attention(target: Target) -> str:
    """Paddle's own attention, causal, against softmax(QK'/sqrt(d))V in float64."""
    q, k, v = (normal(seed, 2, 6, 4, 8) for seed in (18, 19, 20))
    # A mask, for `is_causal` needs a kernel that before 3.3 exists for GPUs alone.
    mask = np.triu(np.full((6, 6), -1e9, "float32"), 1)[None, None]
    run = paddle.nn.functional.scaled_dot_product_attention
    found = target.read(run(*map(target.tensor, (q, k, v, mask))))
    target.close(found, plain_attention(q, k, v).astype("float32"))
    return target.agree(run, q, k, v, mask)


def plain_attention(q: Array, k: Array, v: Array) -> Array:
    """Causal attention over [batch, sequence, heads, size], in float64."""
    q, k, v = (x.astype("float64").transpose(0, 2, 1, 3) for x in (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    length = scores.shape[-1]
    scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3)


CHECKS = (
    transposes, slices, strided_dtypes, writes, fills, indexing, joins, embeddings, attention,
)  # fmt: skip
