"""Smoke level `model`, second part: PaddleNLP's own Llama, tiny, with random weights.

python tiny_llama.py --device loopback --out result.jsonl --spec spec.json
"""

from __future__ import annotations

import importlib.util
from typing import Any

import layouts
import numpy as np
import paddle
from report import Absent, Report, arguments, require
from target import Array, Target, Tensor, in_host_memory, on_cpu, place, values

# Paddle 3.3.1 computes the gradient of an embedding on the CPU where a device has no kernel for it,
# and does not move it back. The values are right, so only its place is excused.
STRAY = "llama.embed_tokens.weight"


def build(spec: dict[str, Any], state: dict[str, Array] | None = None, **more: bool) -> Any:
    """The model on the default device: from seed 0, or with the weights of another."""
    from paddlenlp.transformers import LlamaForCausalLM

    paddle.seed(0)
    model = LlamaForCausalLM(config_of(spec, **more))
    if state is not None:
        for name, weight in model.state_dict().items():
            weight.set_value(state[name])
    return model


def draw(spec: dict[str, Any]) -> Array:
    """Token ids for it, always the same."""
    return np.random.default_rng(0).integers(0, spec["config"]["vocab_size"], spec["shape"])


def step(model: Any, ids: Tensor) -> dict[str, Any]:
    """The loss of predicting the ids, and the gradients of all weights by their names."""
    loss = model(input_ids=ids, labels=ids)[0]
    loss.backward()
    gradients = {name: weight.grad for name, weight in model.named_parameters()}
    return {"loss": loss.detach(), **gradients}


def config_of(spec: dict[str, Any], **more: bool) -> Any:
    """Its config. PaddleNLP 3.0.0b4 and before drop what they are told of fused projections."""
    from paddlenlp.transformers import LlamaConfig

    config = LlamaConfig(**spec["config"], use_flash_attention=False)
    for name, value in more.items():
        setattr(config, name, value)
    return config


FUSED = {"fuse_attention_qkv": True, "fuse_attention_ffn": True}


def fused(spec: dict[str, Any], state: dict[str, Array]) -> dict[str, Array]:
    """Weights, or gradients of them, as PaddleNLP itself lays them out for its fused layers.

    Raises AssertionError where level `ops` lays them out otherwise.
    """
    from paddlenlp.transformers import LlamaForCausalLM

    if not hasattr(LlamaForCausalLM, "_get_fuse_or_split_param_mappings"):
        raise Absent("this paddlenlp fuses no weights")
    config, made = config_of(spec, **FUSED), dict(state)
    actions = LlamaForCausalLM._get_fuse_or_split_param_mappings(config, True)
    require(len(actions) == 2 * config.num_hidden_layers, f"PaddleNLP fuses only {list(actions)}")
    for names, action in actions.items():
        *parts, one = (f"llama.{name}" for name in names)
        given = [made.pop(name) for name in parts]
        made[one] = action(given)
        if len(given) == 2:  # noqa: PLR2004 (gate and up)
            own = layouts.fuse_gate_up(given[0], given[1], np.concatenate)
        else:
            own = layouts.fuse_qkv(given, config.num_key_value_heads, np.concatenate)
        require(np.array_equal(own, made[one]), f"PaddleNLP lays out {one} in another way")
    return made


class Run:
    """The level's checks; each leaves what the next one needs."""

    def __init__(self, target: Target, spec: dict[str, Any]) -> None:
        self.target, self.spec = target, spec
        self.state: dict[str, Array] = {}
        self.wanted: dict[str, Array] = {}

    def paddlenlp_on_cpu(self) -> str:
        """The model runs on the CPU, to compare with."""
        with on_cpu():
            model = build(self.spec)
            self.state = {name: values(w) for name, w in model.state_dict().items()}
            found = step(model, paddle.to_tensor(draw(self.spec)))
            self.wanted = {name: values(result) for name, result in found.items()}
        return f"loss {float(self.wanted['loss']):.6f}, {len(self.state)} weights"

    def paddlenlp_on_device(self) -> str:
        """Loss and gradients on the device are the CPU's."""
        found = step(build(self.spec, self.state), paddle.to_tensor(draw(self.spec)))
        self.target.report.write("figure", name="tiny_llama_loss", value=float(found["loss"]))
        return self.compare(found, self.wanted)

    def paddlenlp_fused(self) -> str:
        """So they are with one projection to q, k and v, and one to gate and up."""
        state, wanted = fused(self.spec, self.state), fused(self.spec, self.wanted)
        model = build(self.spec, state, **FUSED)
        return self.compare(step(model, paddle.to_tensor(draw(self.spec))), wanted)

    def compare(self, found: dict[str, Any], wanted: dict[str, Array]) -> str:
        """Hold loss and gradients against the CPU's."""
        require(found.keys() == wanted.keys(), f"other results: {sorted(found)}")
        strays = [name for name in found if name == STRAY and place(found[name]) == "cpu"]
        read = {n: values(r) if n in strays else self.target.read(r) for n, r in found.items()}
        worst = max(self.target.close(read[name], wanted[name]) for name in read)
        note = f"; left on the cpu by Paddle's fallback: {STRAY}" if strays else ""
        loss = float(read["loss"])
        return f"loss {loss:.6f}, {len(read) - 1} gradients, largest error {worst:.1e}{note}"


def unkept(device: str) -> str:
    """Why a stand-in cannot train a model; "" where it can, and for a card.

    Of a product, Paddle (3.0.0, 3.3.1) keeps for `npu` only what the vendor's own kernel reads for
    the gradient. Where a device in host memory has that type, the CPU's kernel reads more.
    """
    if device == "loopback" or not in_host_memory(device):
        return ""
    paddle.set_device(device)
    factor = paddle.ones([2])
    factor.stop_gradient = False
    try:
        (factor * paddle.ones([2])).backward()
    except RuntimeError:
        return f"of a product, Paddle keeps for {device} only what the vendor's own kernel reads"
    return ""


def main() -> None:
    """Run the checks, or say that PaddleNLP is not there."""
    given, spec = arguments(__doc__ or "")
    report = Report(given.out)
    target = Target(given.device, spec, report)
    if importlib.util.find_spec("paddlenlp") is None:
        report.write("skipped", name="paddlenlp", reason="not installed")
    elif reason := unkept(given.device):
        report.write("skipped", name="paddlenlp", reason=reason)
    else:
        run = Run(target, spec["tiny"])
        checks = (target.select, run.paddlenlp_on_cpu, run.paddlenlp_on_device)
        if all(report.check(check.__name__, check) for check in checks):
            report.check(run.paddlenlp_fused.__name__, run.paddlenlp_fused)
            target.prove()
    report.write("end")


if __name__ == "__main__":
    main()
