"""Device checks: arithmetic over dtypes, ranks and sizes, against the CPU."""

from __future__ import annotations

import numpy as np
import paddle
from report import require
from target import Array, Target

MATMUL_SHAPES = (
    ((7,), (7,)),
    ((5, 7), (7,)),
    ((5, 7), (7, 3)),
    ((4, 5, 7), (7, 3)),
    ((4, 5, 7), (4, 7, 3)),
    ((2, 4, 5, 7), (2, 4, 7, 3)),
    ((2, 1, 5, 7), (4, 7, 3)),
    ((3, 2, 4, 5, 7), (3, 2, 4, 7, 3)),
)
# Not (2, 0) x (0, 3): paddlepaddle 3.0.0 leaves that result uninitialised, on the CPU too.
EMPTY_MATMULS = (((0, 4), (4, 3)), ((2, 3, 0, 4), (2, 3, 4, 5)))


def normal(seed: int, *shape: int, dtype: str = "float32") -> Array:
    """Random normal values, the same in every run."""
    return np.asarray(np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


def floats(target: Target) -> str:
    """The four operations and powers in float32 and float64."""
    for dtype in ("float32", "float64"):
        a, b = normal(1, 6, 8, dtype=dtype), np.abs(normal(2, 6, 8, dtype=dtype)) + 0.5
        target.agree(lambda x, y: [x + y, x - y, x * y, x / y, y**1.5, -x], a, b)
    return "6 operations, 2 dtypes"


def integers(target: Target) -> str:
    """Integer arithmetic, floor division and remainder of negative numbers included."""
    for dtype in ("int32", "int64"):
        a = np.arange(-12, 12).reshape(4, 6).astype(dtype)
        b = np.array([1, -2, 3, -4, 5, 7], dtype)
        target.agree(lambda x, y: [x + y, x - y, x * y, x // y, x % y], a, b)
    return "5 operations, 2 dtypes"


def logic(target: Target) -> str:
    """Comparisons, boolean operations and a choice by them."""
    a, b = normal(3, 5, 5), normal(4, 5, 5)
    target.agree(lambda x, y: [x > y, (x > 0) & (y > 0), (x > 0) | ~(y > 0), x == y], a, b)
    return target.agree(lambda x, y: paddle.where(x > y, x, y), a, b)


def broadcasts(target: Target) -> str:
    """Shapes that stretch to each other."""
    target.agree(lambda x, y: [x + y, x * y], normal(5, 4, 1, 6), normal(6, 3, 1))
    return target.agree(lambda x, y: x - y, normal(7, 2, 3, 4, 5), normal(8, 5))


def scalars(target: Target) -> str:
    """0-D tensors: arithmetic keeps the rank 0, also with a 5-D partner."""
    a, b = normal(9), normal(10)
    target.agree(lambda x, y: [x + y, x * y, paddle.exp(x), x.sum()], a, b)
    return target.agree(lambda x, y: x * y, a, normal(11, 1, 2, 3, 2, 2))


def matmul_ranks(target: Target) -> str:
    """Matrix products from 1-D, whose result is 0-D, to 5-D, in two dtypes."""
    for dtype in ("float32", "float64"):
        for left, right in MATMUL_SHAPES:
            a, b = normal(12, *left, dtype=dtype), normal(13, *right, dtype=dtype)
            target.agree(paddle.matmul, a, b)
            target.close(target.read(paddle.matmul(*map(target.tensor, (a, b)))), np.matmul(a, b))
    return f"{len(MATMUL_SHAPES)} pairs of shapes, 2 dtypes"


def matmul_transposed(target: Target) -> str:
    """Matrix products that read an operand transposed."""
    a, b = normal(14, 3, 7, 5), normal(15, 3, 4, 7)
    return target.agree(
        lambda x, y: paddle.matmul(x, y, transpose_x=True, transpose_y=True), a, b
    )  # fmt: skip


def empty(target: Target) -> str:
    """Zero-size tensors: transfer, arithmetic, another shape, products, and a sum over nothing."""
    target.agree(lambda x: [x + 1, x * x, x.reshape([3, 0])], np.zeros((0, 3), "float32"))
    for left, right in EMPTY_MATMULS:
        target.agree(paddle.matmul, np.zeros(left, "float32"), np.zeros(right, "float32"))
    return target.agree(lambda x: x.sum(), np.zeros((3, 0), "float32"))


def reductions(target: Target) -> str:
    """Sums, means, extremes and their positions, over all and over one axis."""
    a = normal(16, 3, 4, 5)
    target.agree(lambda x: [x.sum(), x.mean(1), x.max(-1), x.min(), x.argmax(-1)], a)
    return target.agree(lambda x: [x.sum([0, 2]), paddle.cumsum(x, 1), x.prod(0)], a)


def functions(target: Target) -> str:
    """What a language model calls between its matrix products."""
    nn = paddle.nn.functional
    a = normal(17, 4, 16)
    target.agree(lambda x: [paddle.exp(x), paddle.rsqrt(x * x + 1), paddle.cos(x)], a)
    return target.agree(
        lambda x: [nn.softmax(x), nn.silu(x), nn.gelu(x), nn.layer_norm(x, [16])], a
    )  # fmt: skip


def randomness(target: Target) -> str:
    """The same seed gives the same numbers, another seed others."""
    drawn = []
    for seed in (5, 5, 6):
        paddle.seed(seed)
        drawn.append(target.read(paddle.randn([64])))
    np.testing.assert_array_equal(drawn[0], drawn[1])
    require(not np.array_equal(drawn[0], drawn[2]), "two seeds gave the same numbers")
    return "seeds 5, 5, 6"


CHECKS = (
    floats, integers, logic, broadcasts, scalars, matmul_ranks, matmul_transposed, empty,
    reductions, functions, randomness,
)  # fmt: skip
