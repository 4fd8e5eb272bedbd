"""Runs small Llamas on loopback and prints what they took, one JSON line a run.

python measured.py FOLDER '[{"sizes": {...}, "batch": 2, "seq": 128, "kind": "train"}, ...]'
First it prints what PaddleNLP makes of the config.json in the folder.
`kind` is train, lora (of rank 16), infer, or the part that is recomputed; with `fused` PaddleNLP's
calls of fused operators reach those of loopback, which keep for their gradients what the vendors'
keep. Runs in the stack's environment; bytes are those of all tensors at once, as Paddle's allocator
counts them.
"""

from __future__ import annotations

import gc
import json
import sys
from typing import Any

import numpy as np
import paddle
from paddlenlp.transformers import LlamaConfig, LlamaForCausalLM

DEVICE = "loopback:0"
ADAPTED = [f".*{name}_proj.*" for name in ("q", "k", "v", "o", "gate", "up", "down")]


def fuse() -> None:
    """Let PaddleNLP, which does not know this device, call its fused operators all the same."""
    import paddle_loopback_ops as ops
    from paddlenlp.transformers.llama import fusion_ops

    def attend(q: Any, config: Any, k: Any, v: Any, *rest: Any, **more: Any) -> Any:
        return ops.flash_attention(q, k, v).reshape([q.shape[0], q.shape[1], -1])

    def rotate(q: Any, k: Any, v: Any, *rest: Any) -> Any:
        table = rest[3]  # after the hidden states, the positions and the cache
        return ops.rotary_embedding(q, k, *table(v, seq_len=k.shape[1]))

    fusion_ops.fusion_flash_attention, fusion_ops.fusion_rope = attend, rotate
    fusion_ops.fusion_rms_norm = lambda x, weight, epsilon, fast: ops.rms_norm(x, weight, epsilon)


def adapted(model: Any) -> Any:
    """The model with adapters, and all else frozen."""
    from paddlenlp.peft import LoRAConfig, LoRAModel

    model = LoRAModel(model, LoRAConfig(target_modules=ADAPTED, r=16, lora_alpha=16))
    model.mark_only_lora_as_trainable()
    return model


def recomputed(model: Any, part: str) -> None:
    """Let each layer compute a part of it anew in the backward pass."""
    model.config.recompute_granularity = part
    for layer in model.sublayers(include_self=True):
        if hasattr(layer, "enable_recompute"):
            layer.enable_recompute, layer.recompute_granularity = True, part


def train(model: Any, ids: Any) -> None:
    """Two steps: from the second on the optimizer's states and the gradients are there."""
    model.train()
    trained = [one for one in model.parameters() if not one.stop_gradient]
    optimizer = paddle.optimizer.AdamW(parameters=trained)
    for _ in range(2):
        loss = model(input_ids=ids, labels=ids)[0]
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        del loss


def infer(model: Any, ids: Any) -> None:
    """A forward pass that fills the cache."""
    model.eval()
    with paddle.no_grad():
        model(input_ids=ids, use_cache=True, return_dict=True)


def run(case: dict[str, Any]) -> int:
    """The peak of one run in bytes."""
    paddle.device.reset_max_memory_allocated(DEVICE)
    fused = bool(case.get("fused"))
    switches = {
        "use_flash_attention": fused,
        "use_fused_rms_norm": fused,
        "use_fast_layer_norm": False,
    }
    model = LlamaForCausalLM(LlamaConfig(**case["sizes"], **switches))
    for layer in model.llama.layers:
        layer.self_attn.use_fused_rope = fused
    if case["kind"] == "lora":
        model = adapted(model)
    elif case["kind"] not in ("train", "infer"):
        recomputed(model, case["kind"])
    shape = (case["batch"], case["seq"])
    ids = paddle.to_tensor(np.random.default_rng(0).integers(0, model.config.vocab_size, shape))
    (infer if case["kind"] == "infer" else train)(model, ids)
    return int(paddle.device.max_memory_allocated(DEVICE))


def main() -> None:
    """One line a run, each with nothing left of the one before."""
    print("config", LlamaConfig.from_pretrained(sys.argv[1]).to_json_string().replace("\n", " "))
    paddle.set_device("loopback")
    fuse()
    for case in json.loads(sys.argv[2]):
        gc.collect()  # layers and their hooks refer to each other
        left = paddle.device.memory_allocated(DEVICE)
        print("peak", json.dumps({"left": left, "peak": run(case)}), flush=True)


main()
