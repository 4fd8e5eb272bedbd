"""How long the fused operators take, held against their plain forms; part of level `ops`."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import layouts
import numpy as np
import paddle
from llama import Plain
from report import require
from target import Target, quiet, several, wait
from ways import Way, absent

_EPSILON = 1e-5
Run = Callable[[], Any]
Count = Callable[[], Mapping[str, int]]


class Inputs:
    """What one layer of a model gives its operators, and the plain form of each call."""

    def __init__(self, wanted: dict[str, Any]) -> None:
        self._random = np.random.default_rng(0)
        self.dtype, self.plain = wanted["dtype"], Plain()
        names = ("tokens", "heads", "kv_heads", "size", "inner")
        self.tokens, self.heads, self.own, self.size, self.inner = (wanted[n] for n in names)
        self.width = self.heads * self.size

    def draw(self, *shape: int) -> Any:
        """Random values, the same in each run."""
        drawn = self._random.standard_normal(shape, "float32")
        return paddle.to_tensor(drawn).astype(self.dtype)

    def rms_norm(self) -> tuple[dict[str, Any], Run]:
        """RMSNorm of a row for each token."""
        x, weight = self.draw(1, self.tokens, self.width), self.draw(self.width)
        values = {"x": x, "weight": weight, "epsilon": _EPSILON, "axis": 2, "row": [self.width]}
        return values, lambda: self.plain.rms_norm(x, weight, _EPSILON)

    def add_rms_norm(self) -> tuple[dict[str, Any], Run]:
        """The same of a sum."""
        values, _ = self.rms_norm()
        x, weight, residual = values["x"], values["weight"], self.draw(*values["x"].shape)

        def plain() -> Any:
            total = x + residual
            return self.plain.rms_norm(total, weight, _EPSILON), total

        return values | {"residual": residual}, plain

    def rotary(self) -> tuple[dict[str, Any], Run]:
        """Rotary embedding of queries and keys."""
        q, k, _ = self._heads()
        cos, sin = (self.draw(self.tokens, self.size) for _ in "cs")
        values = {"q": q, "k": k, "cos": cos[None, :, None], "sin": sin[None, :, None],
                  "cos_sin": cos, "size": self.size,
                  "positions": paddle.arange(self.tokens)[None]}  # fmt: skip
        return values, lambda: self.plain.rotate(q, k, cos, sin)

    def attention(self) -> tuple[dict[str, Any], Run]:
        """Causal attention, with shared heads where they are wanted."""
        q, k, v = self._heads()
        values = {"q": q, "k": k, "v": v, "causal": True, "mask": None, "scale": self.size**-0.5}
        return values, lambda: self.plain.attend(q, k, v)

    def swiglu(self) -> tuple[dict[str, Any], Run]:
        """SwiGLU of a row for each token."""
        gate, up = (self.draw(1, self.tokens, self.inner) for _ in "gu")
        return {"gate": gate, "up": up}, lambda: paddle.nn.functional.silu(gate) * up

    def qkv(self) -> tuple[dict[str, Any], Run]:
        """The projection to q, k and v: one product, against three."""
        x = self.draw(1, self.tokens, self.width)
        weights = [self.draw(self.width, n * self.size) for n in (self.heads, self.own, self.own)]
        fused = layouts.fuse_qkv(weights, self.own, paddle.concat)
        return {"x": x, "fused": fused}, lambda: [paddle.matmul(x, w) for w in weights]

    def ffn(self) -> tuple[dict[str, Any], Run]:
        """SwiGLU of the halves of what one projection gave, against two tensors."""
        gate, up = (self.draw(1, self.tokens, self.inner) for _ in "gu")
        mixed = paddle.concat([gate, up], -1)
        return {"mixed": mixed}, lambda: paddle.nn.functional.silu(gate) * up

    def _heads(self) -> list[Any]:
        return [self.draw(1, self.tokens, n, self.size) for n in (self.heads, self.own, self.own)]


def measure(target: Target, ready: Mapping[str, Way], count: Count, wanted: dict[str, Any]) -> str:
    """Record each operation's latency, fused and plain, in milliseconds: median, spread and mean.

    `ready` is the operator for each. The spread is the median absolute deviation as a share of the
    median; the mean is of calls that are waited for together, as a model makes them. Raises
    AssertionError where an operator that is counted did not run each time.
    """
    note, inputs, said = quiet(), Inputs(wanted), []
    with paddle.no_grad():
        for operation, way in ready.items():
            if (make := getattr(inputs, operation, None)) is None:
                continue
            try:
                said.append(_one(target, operation, way, make(), count, wanted))
            except Exception as failure:
                if (why := absent(failure)) is None:
                    raise
                said.append(f"{operation}: {why}")
    return "; ".join(said) + note


def _one(  # noqa: PLR0913, PLR0917 (what is measured, and how)
    target: Target, operation: str, way: Way, made: tuple[dict[str, Any], Run], count: Count,
    wanted: dict[str, Any],
) -> str:  # fmt: skip
    """One operation: what is to be said of it."""
    values, plain = made
    before = sum(count().values())
    fused, spread = timed(target, partial(way, values | {"none": None}), wanted)
    mean = together(partial(way, values | {"none": None}), wanted["repeats"])
    ran, calls = sum(count().values()) - before, wanted["warm_up"] + 2 * wanted["repeats"]
    if way.own and count():
        require(ran == calls, f"{way.name} ran natively {ran} times in {calls} calls")
    figures = {"ms": fused, "spread": spread, "mean_ms": mean}
    figures["plain_ms"], figures["plain_spread"] = timed(target, plain, wanted)
    for name, value in figures.items():
        target.report.write("figure", name=f"{operation}_{name}", value=value)
    return f"{way.label} {fused:.3g} ms, plain {figures['plain_ms']:.3g} ms"


def timed(target: Target, run: Run, wanted: dict[str, Any]) -> tuple[float, float]:
    """The median of single calls in milliseconds, each waited for, and its spread."""
    for _ in range(wanted["warm_up"]):
        result = run()
    for one in several(list(result.values()) if isinstance(result, dict) else result):
        target.read(one)
    times = []
    for _ in range(wanted["repeats"]):
        wait()
        begin = time.perf_counter()
        run()
        wait()
        times.append(1000 * (time.perf_counter() - begin))
    median = statistics.median(times)
    return median, statistics.median(abs(one - median) for one in times) / median


def together(run: Run, repeats: int) -> float:
    """The mean of calls in milliseconds that are waited for at the end only."""
    wait()
    begin = time.perf_counter()
    for _ in range(repeats):
        run()
    wait()
    return 1000 * (time.perf_counter() - begin) / repeats
