"""Compares one fused operator, forward and backward, with its plain formula.

Arguments: the operator and the device. Prints {"cases", "wrong", "counts", "digest"}.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import sys
from collections.abc import Iterator
from typing import Any

if os.environ.get("PROBE_ONE_CORE"):
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])

import formulas
import numpy as np
import paddle
import paddle_loopback_ops as ops

# Largest error, relative to the largest value of the exact result (at least 1).
TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}

Array = Any
Tensor = Any
# A case: its name, the inputs (with gradient or not), the call, and the exact results
# (outputs, then gradients) for those inputs and gradients of the outputs.
Case = tuple[str, list[tuple[Array, bool]], Any, Any]


class Comparison:
    """Runs cases in one type on one device and collects what is wrong."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.random = np.random.default_rng(20240607)
        self.cases = 0
        self.wrong: list[str] = []
        self.digest = hashlib.sha256()

    def numbers(self, *shape: int) -> Array:
        return self.random.standard_normal(shape)

    def run(self, case: Case, dtype: str) -> None:
        name, inputs, call, exact = case
        tensors = [_tensor(array, dtype, trained) for array, trained in inputs]
        outputs = call(*tensors)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        upstream = [_tensor(self.numbers(*out.shape), dtype, False) for out in outputs]
        paddle.autograd.backward(list(outputs), upstream)
        got = [*outputs, *(t.grad for t in tensors if not t.stop_gradient)]
        want = exact(*(_array(t) for t in tensors), *(_array(g) for g in upstream))
        self.cases += 1
        for index, (mine, formula) in enumerate(zip(got, want, strict=True)):
            self.compare(f"{name} {dtype} result {index}", mine, formula, dtype)

    def compare(self, name: str, mine: Tensor, formula: Array, dtype: str) -> None:
        value = _array(mine)
        self.digest.update(value.tobytes())
        # Paddle reports no device for an empty tensor that a CPU kernel made.
        lost = value.size > 0 and self.device not in str(mine.place)
        if lost or str(mine.dtype) != f"paddle.{dtype}":
            self.wrong.append(f"{name}: on {mine.place}, {mine.dtype}")
        if value.shape != formula.shape:
            self.wrong.append(f"{name}: shape {value.shape}, not {formula.shape}")
        elif value.size:
            error = np.max(np.abs(value - formula)) / max(1.0, float(np.max(np.abs(formula))))
            if not error <= TOLERANCE[dtype]:
                self.wrong.append(f"{name}: error {error:.2e}")


def _tensor(array: Array, dtype: str, trained: bool) -> Tensor:
    tensor = paddle.to_tensor(np.asarray(array)).astype(dtype)
    tensor.stop_gradient = not trained
    return tensor


def _array(tensor: Tensor) -> Array:
    return tensor.detach().cpu().astype("float64").numpy()


def rms_norm_cases(new: Comparison) -> Iterator[Case]:
    for shape in ((1,), (576,), (7, 1), (3, 17), (2, 5, 100), (2, 2, 3, 257), (0, 8), (300, 64)):
        for epsilon in (1e-6, 1e-2):
            yield (
                f"{shape} epsilon {epsilon}",
                [(new.numbers(*shape), True), (new.numbers(shape[-1]), True)],
                lambda x, w, e=epsilon: ops.rms_norm(x, w, e),
                lambda x, w, dy, e=epsilon: (
                    formulas.rms_norm(x, w, e), *formulas.rms_norm_grad(x, w, e, dy)
                ),
            )  # fmt: skip


def _rotary_exact(*arrays: Array) -> Any:
    q, k, cos, sin, dq, dk = arrays
    cos, sin = cos.reshape(-1, cos.shape[-1]), sin.reshape(-1, sin.shape[-1])
    turned = [formulas.rotary(x, cos, sin) for x in (q, k)]
    return [*turned, *(formulas.rotary_grad(dy, cos, sin) for dy in (dq, dk))]


def rotary_cases(new: Comparison) -> Iterator[Case]:
    sizes = itertools.product((1, 2), (1, 17, 100), ((1, 1), (9, 3), (4, 4)), (2, 64))
    for batch, seq, (heads, kv_heads), dim in sizes:
        table = (seq, dim) if batch == 1 else (1, seq, 1, dim)
        yield (
            f"batch {batch} seq {seq} heads {heads}/{kv_heads} dim {dim}",
            [
                (new.numbers(batch, seq, heads, dim), True),
                (new.numbers(batch, seq, kv_heads, dim), True),
                (new.numbers(*table), False),
                (new.numbers(*table), False),
            ],
            ops.rotary_embedding,
            _rotary_exact,
        )


# seq_q, seq_k, heads, kv_heads, dim: lengths on, off and around the tiles (32 and 64),
# more queries than keys (some see none), none at all, grouped heads.
ATTENTION = (
    (1, 1, 1, 1, 8), (17, 17, 4, 4, 16), (100, 100, 6, 2, 32), (257, 257, 3, 1, 64),
    (32, 64, 2, 1, 8), (33, 65, 2, 2, 1), (1, 100, 9, 3, 64), (17, 257, 2, 1, 16),
    (100, 17, 4, 2, 16), (257, 1, 2, 1, 8), (0, 5, 2, 1, 8), (5, 0, 2, 1, 8),
)  # fmt: skip


def attention_cases(new: Comparison) -> Iterator[Case]:
    for (seq_q, seq_k, heads, kv_heads, dim), causal in itertools.product(ATTENTION, (True, False)):
        for scale in (None, 0.3) if seq_q == 100 else (None,):
            used = 1 / math.sqrt(dim) if scale is None else scale
            yield (
                f"{seq_q}x{seq_k} heads {heads}/{kv_heads} dim {dim} causal {causal} {scale}",
                [
                    (new.numbers(2, seq_q, heads, dim), True),
                    (new.numbers(2, seq_k, kv_heads, dim), True),
                    (new.numbers(2, seq_k, kv_heads, dim), True),
                ],
                lambda q, k, v, c=causal, s=scale: ops.flash_attention(q, k, v, c, s),
                lambda q, k, v, dout, c=causal, s=used: (
                    formulas.attention(q, k, v, c, s),
                    *formulas.attention_grad((q, k, v), c, s, dout),
                ),
            )


CASES = {"rms_norm": rms_norm_cases, "rotary": rotary_cases, "attention": attention_cases}


def main(op: str, device: str) -> None:
    paddle.set_device(device)
    comparison = Comparison(device)
    for dtype in TOLERANCE:
        for case in CASES[op](comparison):
            comparison.run(case, dtype)
    report = {
        "cases": comparison.cases,
        "wrong": comparison.wrong,
        "counts": ops.counts(),
        "digest": comparison.digest.hexdigest(),
    }
    print(json.dumps(report))


main(*sys.argv[1:])
