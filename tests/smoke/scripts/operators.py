"""Does level `ops` call the vendors' operators as they are made, and notice wrong ones?

The operators are made here in Paddle's elementary ones, behind the parameters that the plugins'
sources register. Prints {"right": {LABEL: error or ""}, "wrong": {MISTAKE: error or ""}}.
"""

# mypy: disable-error-code="import-not-found"
# (the modules of the probes, which stand beside each other where they run)

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import layouts
import ops
import paddle
import ways
from report import Report
from target import Target

TOLERANCE = {"float32": [1e-5, 1e-6]}
# The names that the plugins register, `?` for an input that may be left out.
REGISTERED: dict[str, tuple[list[str], list[str]]] = {
    "rms_norm_gcu": (["x", "weight"], ["epsilon"]),
    "fused_add_rms_norm_op": (["x", "residual", "weight"], ["epsilon"]),
    "fused_rotary_embedding_gcu": (["query", "key", "cos_sin_table", "positions"], ["is_neox"]),
    "fused_sdp_flash_attention_gcu": (
        ["query", "key", "value", "attn_mask?"], ["dropout", "causal", "is_test"],
    ),
    "rms_norm_npu": (["x", "gamma"], ["epsilon"]),
    "fused_rope": (["query", "cos", "sin"], []),
    "flash_attention_npu": (
        ["query", "key", "value", "fixed_seed_offset?", "attn_mask?"],
        ["dropout", "causal", "return_softmax", "is_test", "is_triangle_upper_mask"],
    ),
}  # fmt: skip


class Protos:
    """What Paddle knows of operators, as for a plugin that has registered these."""

    @classmethod
    def instance(cls) -> Protos:
        return cls()

    @staticmethod
    def has_op_proto(name: str) -> bool:
        return name in REGISTERED

    @staticmethod
    def get_op_proto(name: str) -> SimpleNamespace:
        inputs, attributes = REGISTERED[name]
        return SimpleNamespace(
            inputs=[SimpleNamespace(name=one.replace("?", "@OPTIONAL"), dispensable="?" in one)
                    for one in inputs],
            attrs=[SimpleNamespace(name=one) for one in [*attributes, "op_role", "op_device"]],
        )  # fmt: skip


def norm(x: Any, weight: Any, epsilon: float) -> Any:
    return x * paddle.rsqrt((x * x).mean(-1, keepdim=True) + epsilon) * weight


def turned(x: Any, cos: Any, sin: Any) -> Any:
    first, second = paddle.split(x, 2, -1)
    return x * cos + paddle.concat([-second, first], -1) * sin


def attend(q: Any, k: Any, v: Any, added: Any, causal: bool) -> Any:
    q, k, v = (x.transpose([0, 2, 1, 3]) for x in (q, k, v))
    scores = paddle.matmul(q, k, transpose_y=True) * q.shape[-1] ** -0.5
    if causal:
        added = paddle.triu(paddle.full(scores.shape[-2:], -1e9), 1)
    if added is not None:
        scores = scores + added
    return paddle.matmul(paddle.nn.functional.softmax(scores), v).transpose([0, 2, 1, 3])


def by_table(q: Any, k: Any, table: Any, positions: Any, is_neox: bool) -> list[Any]:
    assert is_neox
    cos, sin = paddle.split(table[positions].unsqueeze(2), 2, -1)
    cos, sin = (paddle.concat([one, one], -1) for one in (cos, sin))
    return [turned(q, cos, sin), turned(k, cos, sin)]


def of_npu(q: Any, k: Any, v: Any, seed: Any, mask: Any, *more: Any) -> list[Any]:
    assert seed is None and more == (0.0, more[1], True, False, False)
    added = None if mask is None else mask.astype("float32") * -1e9
    return [attend(q, k, v, added, more[1]), None, None, None, None, None, None]


OPERATORS: dict[str, Callable[..., Any]] = {
    "rms_norm_gcu": lambda *given: [norm(*given)],
    "fused_add_rms_norm_op": lambda x, r, w, e: [norm(x + r, w, e), x + r],
    "fused_rotary_embedding_gcu": by_table,
    "fused_sdp_flash_attention_gcu": lambda q, k, v, mask, dropout, causal, test: [
        attend(q, k, v, mask, causal)
    ],
    "rms_norm_npu": lambda *given: [norm(*given), None],
    "fused_rope": lambda *given: [turned(*given)],
    "flash_attention_npu": of_npu,
}  # fmt: skip


class Doubled(paddle.autograd.PyLayer):  # type: ignore[misc]
    """Its argument, and twice its gradient."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return 2 * g


def side_by_side(parts: list[Any], kv_heads: int, concat: Any) -> Any:
    """All of q, then all of k, then all of v: not what is split later."""
    return concat(parts, -1)


# A mistake: the operator that makes it, and how it computes then.
MISTAKES: dict[str, tuple[str, Callable[..., Any]]] = {
    "no residual": ("fused_add_rms_norm_op", lambda x, r, w, e: [norm(x, w, e), x + r]),
    "no epsilon": ("rms_norm_gcu", lambda x, w, e: [norm(x, w, 0.0)]),
    "gradient": ("rms_norm_npu", lambda *given: [Doubled.apply(norm(*given)), None]),
    "by pairs": ("fused_rope", lambda q, cos, sin: [turned(q, cos, -sin)]),
    "mask ignored": ("flash_attention_npu", lambda q, k, v, seed, mask, dropout, causal, *_: [
        attend(q, k, v, None, causal)]),
    "mask turned": ("flash_attention_npu", lambda q, k, v, seed, mask, dropout, causal, *_: [
        attend(q, k, v, None if mask is None else (~mask).astype("float32") * -1e9, causal)]),
    "not causal": ("fused_sdp_flash_attention_gcu", lambda q, k, v, mask, dropout, *_: [
        attend(q, k, v, mask, False)]),
    "one result": ("fused_add_rms_norm_op", lambda x, r, w, e: [norm(x + r, w, e)]),
}  # fmt: skip


def suite(rows: list[dict[str, Any]]) -> dict[str, str]:
    """For each operator the first error that the level finds, "" for none."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        spec = {"tolerance": TOLERANCE, "operators": rows, "ops_module": "", "counted": False,
                "latency": None}  # fmt: skip
        target = Target("cpu", spec, Report(out))
        target.select()
        made = ops.Suite(target, spec)
        for way in made.ways:
            made.run(way)
        events = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    found: dict[str, str] = {}
    for event in events:
        if event["event"] == "check":
            label = event["name"].split("_float32")[0].removesuffix("_strided")
            found[label] = found.get(label) or event["error"] or ""
    return found


def main() -> None:
    rows = [{**row, "dtypes": ["float32"]} for row in json.loads(sys.stdin.read())]
    current = dict(OPERATORS)
    ways.OpProtoHolder = Protos
    paddle.base.core.eager._run_custom_op = lambda name, *given: current[name](*given)
    right = suite(rows)
    wrong = {}
    for mistake, (name, operator) in MISTAKES.items():
        current[name] = operator
        wrong[mistake] = " ".join(suite([row for row in rows if row["name"] == name]).values())
        current[name] = OPERATORS[name]
    laid_out, layouts.fuse_qkv = layouts.fuse_qkv, side_by_side
    wrong["layout"] = suite([row for row in rows if row["operation"] == "qkv"])["qkv.linear"]
    layouts.fuse_qkv = laid_out
    REGISTERED["rms_norm_npu"][1].append("new")
    named = suite([row for row in rows if row["name"] == "rms_norm_npu"])
    wrong["new parameter"] = named["rms_norm.rms_norm_npu"]
    del REGISTERED["rms_norm_gcu"]
    missing = suite([row for row in rows if row["name"] == "rms_norm_gcu"])
    wrong["not there"] = missing["rms_norm.rms_norm_gcu"]
    print(json.dumps({"right": right, "wrong": wrong}))


main()
