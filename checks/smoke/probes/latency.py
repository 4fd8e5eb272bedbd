"""How long the fused operators take, held against their plain forms; part of level `ops`."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import paddle
from llama import Fused, Kernels, Plain
from report import require
from target import Target, quiet, several

_EPSILON = 1e-5


class Inputs:
    """What one layer of a small model gives its operators, in float32 on the device."""

    def __init__(self, wanted: dict[str, Any]) -> None:
        self._random = np.random.default_rng(0)
        tokens, heads, own, size = (wanted[n] for n in ("tokens", "heads", "kv_heads", "size"))
        self.x, self.weight = self._draw(1, tokens, heads * size), self._draw(heads * size)
        self.q = self._draw(1, tokens, heads, size)
        self.k, self.v = (self._draw(1, tokens, own, size) for _ in "kv")
        self.cos, self.sin = self._draw(tokens, size), self._draw(tokens, size)

    def _draw(self, *shape: int) -> Any:
        return paddle.to_tensor(self._random.standard_normal(shape).astype("float32"))

    def rms_norm(self, kernels: Kernels) -> Any:
        """RMSNorm of a row for each token."""
        return kernels.rms_norm(self.x, self.weight, _EPSILON)

    def rotary(self, kernels: Kernels) -> Any:
        """Rotary embedding of queries and keys."""
        return kernels.rotate(self.q, self.k, self.cos, self.sin)

    def attention(self, kernels: Kernels) -> Any:
        """Causal attention with grouped heads."""
        return kernels.attend(self.q, self.k, self.v)


def measure(target: Target, ops: Any, wanted: dict[str, Any]) -> str:
    """Record each operator's latency, fused and plain, in milliseconds: median and spread.

    The spread is the median absolute deviation as a share of the median. Raises AssertionError
    where a fused operator did not run natively each time.
    """
    note, inputs, said = quiet(), Inputs(wanted), []
    with paddle.no_grad():
        for run in (inputs.rms_norm, inputs.rotary, inputs.attention):
            before = sum(ops.counts().values())
            fused, spread = timed(target, partial(run, Fused(ops)), wanted)
            ran = sum(ops.counts().values()) - before
            calls = wanted["warm_up"] + wanted["repeats"]
            require(ran == calls, f"{run.__name__} ran natively {ran} times in {calls} calls")
            plain, plain_spread = timed(target, partial(run, Plain()), wanted)
            figures = {"ms": fused, "spread": spread, "plain_ms": plain,
                       "plain_spread": plain_spread}  # fmt: skip
            for name, value in figures.items():
                target.report.write("figure", name=f"{run.__name__}_{name}", value=value)
            said.append(f"{run.__name__} {fused:.3g} ms, plain {plain:.3g} ms")
    return "; ".join(said) + note


def timed(target: Target, run: Callable[[], Any], wanted: dict[str, Any]) -> tuple[float, float]:
    """The median of single calls in milliseconds, each waited for, and its spread."""
    for _ in range(wanted["warm_up"]):
        result = run()
    for one in several(result):
        target.read(one)
    times = []
    for _ in range(wanted["repeats"]):
        paddle.device.synchronize()
        begin = time.perf_counter()
        run()
        paddle.device.synchronize()
        times.append(1000 * (time.perf_counter() - begin))
    median = statistics.median(times)
    return median, statistics.median(abs(one - median) for one in times) / median
