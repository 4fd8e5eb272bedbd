"""Smoke level `ops`: the fused operators against their plain formulas in float64.

python ops.py --device loopback --out result.jsonl --spec spec.json
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import formulas
import latency
import numpy as np
import paddle
from report import Report, require
from target import Array, Target, arguments, values

EPSILON = 1e-5
NORM_SHAPES = ((1,), (3, 64), (2, 5, 576))
ROTATIONS = ((1, 1, 1, 2), (2, 17, 3, 16))  # batch, sequence, heads, size
# batch, queries, keys, heads of q, heads of k and v, size, causal
ATTENTIONS = (
    (1, 1, 1, 1, 1, 8, True),
    (2, 17, 17, 6, 2, 16, True),
    (1, 100, 100, 4, 4, 32, False),
    (1, 257, 257, 9, 3, 64, True),
    (1, 5, 40, 4, 1, 16, True),
    (1, 40, 5, 2, 2, 16, True),
)


class Case:
    """One comparison: rounded inputs, their float64 values, and what came back."""

    def __init__(self, target: Target, dtype: str, seed: int) -> None:
        self.target, self.dtype = target, dtype
        self._random = np.random.default_rng(seed)
        self.worst = 0.0

    def draw(self, *shape: int) -> tuple[Any, Array]:
        """A random tensor of the dtype that wants a gradient, and its values in float64."""
        drawn = paddle.to_tensor(self._random.standard_normal(shape)).astype(self.dtype)
        made = self.laid_out(drawn).detach()
        made.stop_gradient = False
        return made, values(made).astype("float64")

    @staticmethod
    def laid_out(tensor: Any) -> Any:
        """The tensor as it lies in memory for this case."""
        return tensor

    def compare(self, results: Sequence[Any], wanted: Sequence[Array]) -> None:
        """Check the place, dtype and values of results. Raises AssertionError."""
        for result, formula in zip(results, wanted, strict=True):
            if self.dtype not in str(result.dtype):
                raise AssertionError(f"{result.dtype} instead of {self.dtype}")
            found = self.target.read(result).astype("float64")
            self.worst = max(self.worst, self.target.close(found, formula, self.dtype))


class Strided(Case):
    """The same with inputs whose axes lie in memory in reverse: no kernel may take them as rows."""

    @staticmethod
    def laid_out(tensor: Any) -> Any:
        """See Case."""
        back = list(reversed(range(tensor.ndim)))
        made = tensor.transpose(back).contiguous().transpose(back)
        several = [size for size in tensor.shape if size > 1]
        require(len(several) < 2 or not made.is_contiguous(), "the device made it contiguous")  # noqa: PLR2004
        return made


def rms_norm(case: Case, ops: Any) -> None:
    """RMSNorm over several ranks, forward and backward."""
    for shape in NORM_SHAPES:
        (x, plain_x), (w, plain_w) = case.draw(*shape), case.draw(shape[-1])
        g, plain_g = case.draw(*shape)
        result = ops.rms_norm(x, w, EPSILON)
        result.backward(g)
        case.compare([result], [formulas.rms_norm(plain_x, plain_w, EPSILON)])
        wanted = formulas.rms_norm_backward(plain_x, plain_w, EPSILON, plain_g)
        case.compare([x.grad, w.grad], wanted)


def rotary(case: Case, ops: Any) -> None:
    """Rotary embedding, forward and backward; keys with fewer heads than queries."""
    for batch, length, heads, size in ROTATIONS:
        turns = np.outer(np.arange(length), np.tile(0.5 ** np.arange(size // 2), 2))
        angles = [f(turns).astype("float32") for f in (np.cos, np.sin)]
        (q, plain_q), (k, plain_k) = (case.draw(batch, length, n, size) for n in (heads, 1))
        (by_q, plain_by_q), (by_k, plain_by_k) = (case.draw(*x.shape) for x in (q, k))
        results = ops.rotary_embedding(q, k, *map(paddle.to_tensor, angles))
        paddle.autograd.backward(list(results), [by_q, by_k])
        case.compare(results, [formulas.rotated(x, *angles) for x in (plain_q, plain_k)])
        wanted = [formulas.rotated_backward(g, *angles) for g in (plain_by_q, plain_by_k)]
        case.compare([q.grad, k.grad], wanted)


def attention(case: Case, ops: Any) -> None:
    """Attention over odd lengths, shared heads, causal or not, forward and backward."""
    for batch, queries, keys, heads, own, size, causal in ATTENTIONS:
        q, plain_q = case.draw(batch, queries, heads, size)
        (k, plain_k), (v, plain_v) = (case.draw(batch, keys, own, size) for _ in "kv")
        g, plain_g = case.draw(batch, queries, heads, size)
        result = ops.flash_attention(q, k, v, causal=causal)
        result.backward(g)
        wanted, weights = formulas.attention(plain_q, plain_k, plain_v, causal)
        case.compare([result], [wanted])
        back = formulas.attention_backward(plain_q, plain_k, plain_v, weights, plain_g)
        case.compare([q.grad, k.grad, v.grad], back)


def check(target: Target, ops: Any, run: Callable[[Case, Any], None], name: str, case: Case) -> str:
    """One operator in one dtype; it must have run natively in both directions."""
    before = ops.counts()
    run(case, ops)
    risen = {name: n - before.get(name, 0) for name, n in ops.counts().items()}
    ran = sorted(name for name, n in risen.items() if n > 0)
    forward = [name for name in ran if f"{name}_grad" in ran]
    require(
        len(forward) == 1, f"ran natively: {ran or 'nothing'}, not an operator and its gradient"
    )
    target.report.write("ran", kernels={name: risen[name] for name in ran})
    target.report.write("figure", name=name, value=case.worst)
    return f"largest error {case.worst:.1e}; ran: {', '.join(ran)}"


def main() -> None:
    """Run every operator in every dtype; the result file says what was found."""
    given, spec = arguments(__doc__ or "")
    report = Report(given.out)
    target = Target(given.device, spec, report)
    loaded: list[Any] = []

    def load() -> str:
        loaded.append(importlib.import_module(spec["ops_module"]))
        return str(spec["ops_module"])

    if report.check("select", target.select) and report.check("loaded", load):
        for kind, run in product((Case, Strided), (rms_norm, rotary, attention)):
            layout = "" if kind is Case else "strided_"
            for dtype in spec["tolerance"]:
                name, case = f"{run.__name__}_{layout}{dtype}", kind(target, dtype, seed=1)
                report.check(name, partial(check, target, loaded[0], run, name, case))
                target.prove()
        if spec["latency"]:
            report.check("latency", lambda: latency.measure(target, loaded[0], spec["latency"]))
            target.prove()
    report.write("end")


if __name__ == "__main__":
    main()
