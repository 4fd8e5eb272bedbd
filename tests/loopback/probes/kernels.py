"""Compares the native kernels with NumPy. Prints {"cases", "wrong", "kernels"}."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import paddle
from paddle_custom_device import loopback

Array = Any
Tensor = Any
TYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
         "float64", "complex64", "complex128")  # fmt: skip
SHAPES = ((), (1,), (5,), (0,), (3, 4), (3, 0, 2), (2, 3, 4), (2, 3, 4, 5), (1, 2, 1, 3, 2),
          (64, 33))  # fmt: skip
VALUES = {"bool": 1, "uint8": 200, "int8": -7, "float16": -1.5, "bfloat16": -1.5}


class Checks:
    """Counts comparisons and names those that fail."""

    def __init__(self) -> None:
        self.cases = 0
        self.wrong: list[str] = []

    def same(self, name: str, tensor: Tensor, expected: Array) -> None:
        self.cases += 1
        got = on_host(tensor)
        if got.shape != expected.shape or not np.array_equal(got, expected, equal_nan=True):
            self.wrong.append(name)


def on_host(tensor: Tensor) -> Array:
    host = tensor.cpu()
    return (host.astype("float32") if host.dtype == paddle.bfloat16 else host).numpy()


def new(shape: tuple[int, ...], dtype: str) -> Tensor:
    random = np.random.default_rng(len(shape))
    numbers = random.integers(0, 2 if dtype == "bool" else 100, shape)
    if "complex" in dtype:
        numbers = numbers + 1j * random.integers(0, 9, shape)
    return paddle.to_tensor(np.asarray(numbers), dtype=dtype)


def contiguous(check: Checks, name: str, x: Tensor) -> None:
    values, backwards = on_host(x), list(range(x.ndim))[::-1]
    check.same(f"{name} transposed", x.transpose(backwards).contiguous(), values.transpose())
    check.same(f"{name} reshaped", x.transpose(backwards).reshape([-1]), values.T.reshape(-1))
    if x.size:
        repeated = x.unsqueeze(0).expand([3, *x.shape])
        check.same(f"{name} expanded", repeated.contiguous(), np.stack([values] * 3))
    for part in (slice(None, None, 2), slice(1, None)):
        if x.ndim and x.shape[0] > 1:
            check.same(f"{name} {part}", x[part].contiguous(), values[part])


def strided_copy(check: Checks, name: str, x: Tensor) -> None:
    values, target, expected = on_host(x), x.clone(), on_host(x).copy()
    target[1:] = x[:-1]
    expected[1:] = values[:-1]
    check.same(f"{name} set rows", target, expected)
    target[:, 0] = x[:, -1]
    expected[:, 0] = values[:, -1]
    check.same(f"{name} set a column", target, expected)
    target[:, ::2] = x[:, ::2]
    expected[:, ::2] = values[:, ::2]
    check.same(f"{name} set every second column", target, expected)


def fill(check: Checks, name: str, x: Tensor, dtype: str) -> None:
    value = VALUES.get(dtype, 7)
    filled = x.clone().fill_(value)
    check.same(f"{name} filled", filled, np.full_like(on_host(x), value))
    if x.ndim > 1 and x.size:
        target, expected = x.clone(), on_host(x).copy()
        target.transpose(list(range(x.ndim))[::-1])[0].fill_(value)
        expected.T[0] = value
        check.same(f"{name} filled through a view", target, expected)


def extreme_values(check: Checks) -> None:
    for dtype, value in (
        ("float64", 1e300), ("float32", float("inf")), ("float64", float("nan")),
        ("int64", 2**62 + 1), ("int64", -(2**63)), ("float16", 65504.0), ("float16", 0.0),
        ("float16", 2.0**-25), ("float16", 2.0**-24), ("float16", -(2.0**-30)),
    ):  # fmt: skip
        check.same(f"{dtype} {value}", new((4,), dtype).fill_(value), np.full(4, value, dtype))


def gradients(check: Checks) -> None:
    """Only the backward pass of a slice needs `fill`."""
    for dtype in ("float32", "float64", "complex64"):
        x = new((4, 6), dtype)
        x.stop_gradient = False
        x[1:3, ::2].sum().backward()
        expected = np.zeros((4, 6), dtype)
        expected[1:3, ::2] = 1
        check.same(f"{dtype} gradient of a slice", x.grad, expected)


def main() -> None:
    paddle.set_device("loopback")
    check = Checks()
    for dtype in TYPES:
        for shape in SHAPES:
            x, name = new(shape, dtype), f"{dtype} {shape}"
            contiguous(check, name, x)
            fill(check, name, x, dtype)
            if x.ndim > 1 and x.size and min(x.shape[:2]) > 1:
                strided_copy(check, name, x)
    extreme_values(check)
    gradients(check)
    counted = loopback.stats()["kernels"]
    print(json.dumps({"cases": check.cases, "wrong": check.wrong, "kernels": counted}))


main()
