"""Fused operators for tensors on a loopback device or on the CPU, with gradients.

They take float16, bfloat16, float32 and float64; float64 is computed in float64, the others in
float32. A tensor of a wrong shape or type raises an error that names what is wrong.
"""

from __future__ import annotations

import ctypes
import json
import math
from pathlib import Path
from typing import Any

import paddle

from .built_for import PADDLE_VERSION

__all__ = ["counts", "flash_attention", "rms_norm", "rotary_embedding"]

LIBRARY = Path(__file__).parent / "libpaddle-loopback-ops.so"

# C++ interfaces change between releases without notice: a wrong one would crash, not complain.
if paddle.__version__ != PADDLE_VERSION:
    raise ImportError(
        f"paddle_loopback_ops is built for paddlepaddle {PADDLE_VERSION}, "
        f"but {paddle.__version__} is running: install the build for it"
    )
paddle.utils.cpp_extension.load_op_meta_info_and_register_op(str(LIBRARY))


def rms_norm(x: Any, weight: Any, epsilon: float = 1e-6) -> Any:
    """Return x / sqrt(mean(x^2) + epsilon) * weight, over the last dimension.

    x: [..., n]; weight: [n], of x's type. The result is like x.
    """
    return _run("rms_norm_loopback", x, weight, epsilon)[0]


def rotary_embedding(q: Any, k: Any, cos: Any, sin: Any) -> tuple[Any, Any]:
    """Return q and k turned by their positions ("half" rotation, as in Llama and NeoX).

    q: [batch, seq, heads, dim]; k: [batch, seq, kv_heads, dim], dim even. cos, sin: [seq, dim] or
    [1, seq, 1, dim], float32 or of q's type; no gradient flows to them. Element i of a head turns
    with element i + dim/2: out = x * cos + concat(-x[dim/2:], x[:dim/2]) * sin.
    """
    turned_q, turned_k = _run("fused_rotary_embedding_loopback", q, k, cos, sin)
    return turned_q, turned_k


def flash_attention(q: Any, k: Any, v: Any, causal: bool = True, scale: float | None = None) -> Any:
    """Return softmax(scale * q k^T) v, without ever holding the whole matrix of scores.

    q: [batch, seq_q, heads, dim]; k, v: [batch, seq_k, kv_heads, dim], where kv_heads divides
    heads: neighbouring heads of q share one of k. The result is like q. `scale` is 1/sqrt(dim) by
    default. A causal mask is aligned to the end: the last query sees all keys, and a query that
    sees none (seq_q > seq_k) gets zeros.
    """
    if scale is None:
        scale = 1 / math.sqrt(q.shape[-1])
    return _run("fused_sdp_flash_attention_loopback", q, k, v, causal, scale)[0]


def counts() -> dict[str, int]:
    """Return how often each operator ran here; gradients count by themselves, as NAME_grad."""
    library = ctypes.CDLL(str(LIBRARY))
    library.loopback_ops_counts.restype = ctypes.c_char_p
    counted: dict[str, int] = json.loads(library.loopback_ops_counts())
    return counted


def _run(name: str, *arguments: Any) -> list[Any]:
    results: list[Any] = paddle.base.core.eager._run_custom_op(name, *arguments)
    return results
