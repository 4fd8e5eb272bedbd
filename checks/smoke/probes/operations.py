"""The operations of a Llama that backends fuse: for each the problems, with their exact results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import formulas
import layouts
import numpy as np
import paddle
from cases import Case, Problem
from target import Array
from ways import Way

# Shapes as models have them: a kernel for a card need not take a row of one element.
EPSILON = 1e-3  # so large that a kernel that leaves it out is noticed
NORM_SHAPES = ((6, 60), (1, 3, 64), (2, 5, 576))
ROTATIONS = ((1, 1, 2, 128), (2, 17, 3, 64))  # batch, sequence, heads, size
# batch, queries, keys, heads of q, heads of k and v, size, causal, real lengths of the sequences
ATTENTIONS: tuple[tuple[int, int, int, int, int, int, bool, tuple[int, ...]], ...] = (
    (1, 1, 1, 1, 1, 64, True, ()),
    (2, 17, 17, 6, 2, 16, True, ()),
    (2, 33, 33, 2, 2, 16, True, ()),
    (1, 100, 100, 4, 4, 32, False, ()),
    (1, 257, 257, 9, 3, 64, True, ()),
    (1, 5, 40, 4, 1, 16, True, ()),
    (1, 40, 5, 2, 2, 16, True, ()),
    (2, 19, 19, 2, 2, 16, False, (19, 7)),
    (3, 12, 12, 4, 4, 16, True, (12, 1, 5)),
)
PROJECTIONS = ((1, 3, 2, 2, 4), (2, 7, 6, 2, 8))  # batch, sequence, heads, heads of k and v, size
GATES = ((3, 8), (2, 5, 96))
FEEDS = ((1, 3, 8, 16), (2, 7, 24, 40))  # batch, sequence, width, inner width

Problems = Iterator[Problem]
Gradients = Mapping[str, Array]  # by the names of the results


def rms_norm(case: Case, way: Way) -> Problems:
    """RMSNorm over several ranks."""
    for shape in NORM_SHAPES:
        (x, plain_x), (w, plain_w) = case.draw(*shape), case.draw(shape[-1])

        def back(g: Gradients, x: Array = plain_x, w: Array = plain_w) -> dict[str, Array]:
            return _by(("x", "weight"), formulas.rms_norm_backward(x, w, EPSILON, g["y"]))

        wanted = {"y": formulas.rms_norm(plain_x, plain_w, EPSILON)}
        yield Problem({"x": x, "weight": w}, _row(x), wanted, back)


def add_rms_norm(case: Case, way: Way) -> Problems:
    """The sum of a layer's result and what went past it, and the RMSNorm of that."""
    for shape in NORM_SHAPES:
        (x, plain_x), (r, plain_r) = case.draw(*shape), case.draw(*shape)
        w, plain_w = case.draw(shape[-1])
        total = plain_x + plain_r

        def back(g: Gradients, total: Array = total, w: Array = plain_w) -> dict[str, Array]:
            by_sum, by_weight = formulas.rms_norm_backward(total, w, EPSILON, g["y"])
            both = by_sum + g["sum"]
            return {"x": both, "residual": both, "weight": by_weight}

        wanted = {"y": formulas.rms_norm(total, plain_w, EPSILON), "sum": total}
        yield Problem({"x": x, "residual": r, "weight": w}, _row(x), wanted, back)


def rotary(case: Case, way: Way) -> Problems:
    """Rotary embedding; keys with fewer heads than queries."""
    for batch, length, heads, size in ROTATIONS:
        # Of few bits, so that they are the same in each dtype.
        turns = np.outer(np.arange(length), 0.5 ** np.arange(size // 2))
        cos, sin = (np.round(f(turns) * 64) / 64 for f in (np.cos, np.sin))
        tables = [np.concatenate([one, one], -1) for one in (cos, sin)]
        drawn = {n: case.draw(batch, length, h, size) for n, h in (("q", heads), ("k", 1))
                 if n in way.gives}  # fmt: skip
        given = {
            "cos": case.fixed(tables[0][None, :, None]),
            "sin": case.fixed(tables[1][None, :, None]),
            "cos_sin": case.fixed(np.concatenate([cos, sin], -1)),
            "positions": case.fixed(np.tile(np.arange(length), (batch, 1)), "int64"),
            "size": size,
        }

        def back(g: Gradients, cos: Array = tables[0], sin: Array = tables[1]) -> dict[str, Array]:
            return {name: formulas.rotated_backward(one, cos, sin) for name, one in g.items()}

        inputs = {name: tensor for name, (tensor, _) in drawn.items()}
        wanted = {name: formulas.rotated(plain, *tables) for name, (_, plain) in drawn.items()}
        yield Problem(inputs, given, wanted, back)


def attention(case: Case, way: Way) -> Problems:
    """Attention over odd lengths, shared heads, causal or not, with padding or not."""
    for batch, queries, keys, heads, own, size, causal, lengths in ATTENTIONS:
        if not _takes(way, causal and queries != keys, heads != own, bool(lengths)):
            continue
        q, plain_q = case.draw(batch, queries, heads, size)
        (k, plain_k), (v, plain_v) = (case.draw(batch, keys, own, size) for _ in "kv")
        seen = formulas.visible(queries, keys, causal, lengths)
        y, weights = formulas.attention(plain_q, plain_k, plain_v, seen)
        given = {"causal": causal and not lengths, "scale": size**-0.5,
                 "mask": _mask(case, way, seen) if lengths else None}  # fmt: skip

        exact = plain_q, plain_k, plain_v, weights

        def back(g: Gradients, exact: tuple[Array, ...] = exact) -> dict[str, Array]:
            q, k, v, weights = exact
            return _by("qkv", formulas.attention_backward(q, k, v, weights, g["y"]))

        yield Problem({"q": q, "k": k, "v": v}, given, {"y": y}, back)


def swiglu(case: Case, way: Way) -> Problems:
    """SwiGLU of two tensors."""
    for shape in GATES:
        (gate, plain_gate), (up, plain_up) = case.draw(*shape), case.draw(*shape)

        def back(g: Gradients, gate: Array = plain_gate, up: Array = plain_up) -> dict[str, Array]:
            return _by(("gate", "up"), formulas.swiglu_backward(gate, up, g["y"]))

        wanted = {"y": formulas.swiglu(plain_gate, plain_up)}
        yield Problem({"gate": gate, "up": up}, {}, wanted, back)


def qkv(case: Case, way: Way, biased: bool = False) -> Problems:
    """One projection to q, k and v, laid out as PaddleNLP does, against three of them."""
    for batch, length, heads, own, size in PROJECTIONS:
        width = heads * size
        many = {"q": heads, "k": own, "v": own}
        x, plain_x = case.draw(batch, length, width)
        w = {n: case.draw(width, count * size) for n, count in many.items()}
        b = {n: case.draw(count * size) for n, count in many.items()} if biased else {}

        def derive(w: Any = w, b: Any = b, own: int = own) -> dict[str, Any]:
            parts = {"fused": w, "bias": b} if b else {"fused": w}
            return {name: layouts.fuse_qkv([one[n][0] for n in "qkv"], own, paddle.concat)
                    for name, one in parts.items()}  # fmt: skip

        wanted = {n: plain_x @ w[n][1] + (b[n][1] if biased else 0.0) for n in many}
        shapes = {n: [batch, length, count, size] for n, count in many.items()}

        def back(g: Gradients, x: Array = plain_x, w: Any = w) -> dict[str, Array]:
            rows = {n: one.reshape(*x.shape[:-1], -1) for n, one in g.items()}
            by = {n: formulas.linear_backward(x, w[n][1], rows[n]) for n in rows}
            found = {"x": sum(one[0] for one in by.values())}
            found |= {f"w{n}": one[1] for n, one in by.items()}
            return found | {f"b{n}": rows[n].sum((0, 1)) for n in rows}

        yield Problem(
            {"x": x, **{f"w{n}": w[n][0] for n in w}, **{f"b{n}": b[n][0] for n in b}},
            {},
            {n: one.reshape(shapes[n]) for n, one in wanted.items()},
            back,
            derive,
            partial(_split, heads=heads, own=own),
        )


def qkv_bias(case: Case, way: Way) -> Problems:
    """The same with biases, as of a Qwen."""
    return qkv(case, way, biased=True)


def ffn(case: Case, way: Way) -> Problems:
    """Gate and up as one projection, laid out as PaddleNLP does, then SwiGLU of its halves."""
    for batch, length, width, inner in FEEDS:
        x, plain_x = case.draw(batch, length, width)
        (gate, plain_gate), (up, plain_up) = (case.draw(width, inner) for _ in "gu")
        exact = plain_x, (plain_gate, plain_up)

        def derive(x: Any = x, gate: Any = gate, up: Any = up) -> dict[str, Any]:
            fused = layouts.fuse_gate_up(gate, up, paddle.concat)
            return {"mixed": paddle.nn.functional.linear(x, fused)}

        def back(g: Gradients, exact: Any = exact) -> dict[str, Array]:
            x, (gate, up) = exact
            by_gate, by_up = formulas.swiglu_backward(x @ gate, x @ up, g["y"])
            by = formulas.linear_backward(x, gate, by_gate), formulas.linear_backward(x, up, by_up)
            return {"x": by[0][0] + by[1][0], "gate": by[0][1], "up": by[1][1]}

        wanted = {"y": formulas.swiglu(plain_x @ plain_gate, plain_x @ plain_up)}
        yield Problem({"x": x, "gate": gate, "up": up}, {}, wanted, back, derive)


def _row(x: Any) -> dict[str, Any]:
    """What else norms are told."""
    return {"epsilon": EPSILON, "axis": x.ndim - 1, "row": x.shape[-1:]}


def _split(found: dict[str, Any], heads: int, own: int) -> dict[str, Any]:
    """q, k and v of what the one projection gave."""
    return layouts.split_qkv(found["mixed"], heads, own)


def _by(names: Iterable[str], gradients: Iterable[Array]) -> dict[str, Array]:
    return dict(zip(names, gradients, strict=True))


def _takes(way: Way, skewed: bool, grouped: bool, padded: bool) -> bool:
    """Whether an operator is made for such attention."""
    return (
        (not skewed or way.row["causal"] == "end")
        and (not grouped or way.grouped)
        and (not padded or bool(way.row["mask"]))
    )


def _mask(case: Case, way: Way, seen: Array) -> Any:
    """What must not be seen, as an operator takes it: [batch, 1, queries, keys]."""
    if way.row["mask"] == "hidden":
        return paddle.to_tensor(~seen)
    lowest = -1e4  # within float16, and its exponential is nothing in each dtype
    return case.fixed(np.where(seen, 0.0, lowest))


OPERATIONS: dict[str, Callable[[Case, Way], Problems]] = {
    one.__name__: one
    for one in (rms_norm, add_rms_norm, rotary, attention, swiglu, qkv, qkv_bias, ffn)
}
