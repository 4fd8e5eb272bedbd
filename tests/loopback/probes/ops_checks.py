"""Further checks of the fused operators. Argument: differences, views or refusals."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import paddle
import paddle_loopback_ops as ops

Tensor = Any
RANDOM = np.random.default_rng(7)


def new(*shape: int, dtype: str = "float64") -> Tensor:
    return paddle.to_tensor(RANDOM.standard_normal(shape)).astype(dtype)


def calls() -> dict[str, tuple[Callable[..., Tensor], list[Tensor]]]:
    """Each operator as a function of the inputs that it has gradients for."""
    cos, sin = new(7, 8), new(7, 8)

    def rotary(q: Tensor, k: Tensor) -> Tensor:
        return paddle.concat([t.flatten() for t in ops.rotary_embedding(q, k, cos, sin)])

    return {
        "rms_norm": (ops.rms_norm, [new(5, 9), new(9)]),
        "rotary": (rotary, [new(2, 7, 4, 8), new(2, 7, 2, 8)]),
        "attention": (
            ops.flash_attention,
            [new(2, 40, 4, 8), new(2, 70, 2, 8), new(2, 70, 2, 8)],
        ),
    }


def differences() -> dict[str, float]:
    """Relative error of the derivative along one direction against central differences."""
    step = 1e-5
    errors = {}
    for name, (call, inputs) in calls().items():
        for tensor in inputs:
            tensor.stop_gradient = False
        upstream = new(*call(*inputs).shape)
        (call(*inputs) * upstream).sum().backward()
        ways = [new(*tensor.shape) for tensor in inputs]
        slope = sum(float((t.grad * way).sum()) for t, way in zip(inputs, ways, strict=True))
        ends = [
            float((call(*[t.detach() + s * w for t, w in zip(inputs, ways, strict=True)])
                   * upstream).sum())
            for s in (step, -step)
        ]  # fmt: skip
        errors[name] = abs((ends[0] - ends[1]) / (2 * step) - slope) / max(1.0, abs(slope))
    return errors


def views() -> dict[str, int]:
    """How many results differ when the inputs are transposed views instead of dense."""
    wrong = {}
    for name, (call, inputs) in calls().items():
        turned = []
        for tensor in inputs:
            order = list(range(tensor.ndim))[::-1]
            turned.append(tensor.transpose(order).contiguous().transpose(order))
        assert any(not t.is_contiguous() for t in turned)
        same = np.array_equal(call(*inputs).numpy(), call(*turned).numpy())
        wrong[name] = int(not same)
    return wrong


def refusals() -> list[tuple[str, str]]:
    """What the message must name, and the message, for each wrong call."""
    q, k = new(1, 4, 4, 8), new(1, 4, 2, 8)
    table = new(4, 8)
    wrong: list[tuple[str, Callable[[], Any]]] = [
        ("weight must be", lambda: ops.rms_norm(q, new(9))),
        ("float64 but weight is float32", lambda: ops.rms_norm(q, new(8, dtype="float32"))),
        ("got int32", lambda: ops.rms_norm(q.astype("int32"), new(8).astype("int32"))),
        ("must not be negative", lambda: ops.rms_norm(q, new(8), -1.0)),
        ("one device", lambda: ops.rms_norm(q, new(8).cpu())),
        ("[batch, seq, heads, dim]", lambda: ops.rotary_embedding(q[0], k, table, table)),
        ("number of heads only", lambda: ops.rotary_embedding(q, k[:, :3], table, table)),
        ("dim must be even", lambda: ops.rotary_embedding(*[new(1, 4, 2, 3)] * 2, table, table)),
        ("cos must be", lambda: ops.rotary_embedding(q, k, new(5, 8), table)),
        ("sin must be", lambda: ops.rotary_embedding(q, k, table, table.astype("float16"))),
        ("multiple", lambda: ops.flash_attention(q, new(1, 4, 3, 8), new(1, 4, 3, 8))),
        ("same shape", lambda: ops.flash_attention(q, k, new(1, 5, 2, 8))),
        ("same batch and dim", lambda: ops.flash_attention(q, *[new(2, 4, 2, 8)] * 2)),
        ("k and v are float64 and float32", lambda: ops.flash_attention(
            q, k, k.astype("float32"))),
        ("finite", lambda: ops.flash_attention(q, k, k, True, float("nan"))),
    ]  # fmt: skip
    return [(named, _message(call)) for named, call in wrong]


def _message(call: Callable[[], Any]) -> str:
    try:
        call()
    except Exception as refusal:
        return str(refusal)
    return "it was accepted"


paddle.set_device("loopback")
print(json.dumps({"differences": differences, "views": views, "refusals": refusals}[sys.argv[1]]()))
