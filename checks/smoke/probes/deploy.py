"""Smoke level `deploy`: PaddleNLP's Llama, tiny, exported and run as a static graph.

python deploy.py --device loopback --out result.jsonl --spec spec.json
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import paddle
from report import Report, arguments, require
from target import Array, Target
from tiny_llama import build, draw

GRAPHS = (".json", ".pdmodel")  # as PIR, which Paddle 3 writes, and as before
WEIGHTS = ".pdiparams"


class Run:
    """The level's checks; each leaves what the next ones need."""

    def __init__(self, target: Target, folder: Path, spec: dict[str, Any]) -> None:
        self.target, self.base = target, folder / "exported" / "model"
        self.tiny, self.wanted, self.ids = spec["tiny"], spec["deploy"], draw(spec["tiny"])
        self.model: Any = None
        self.dynamic: Array = None
        self.static: Array = None

    def dynamic_result(self) -> str:
        """What the model says on the device, step by step."""
        self.model = build(self.tiny)
        self.model.eval()
        with paddle.no_grad():
            found = self.model(input_ids=paddle.to_tensor(self.ids))
        self.dynamic = self.target.read(found[0] if isinstance(found, tuple) else found)
        return f"scores {list(self.dynamic.shape)}"

    def exported(self) -> str:
        """The model becomes a graph; the files of it are there and not empty."""
        ids = paddle.static.InputSpec([None, None], "int64", "input_ids")
        graph = paddle.jit.to_static(self.model, input_spec=[ids], full_graph=True)
        paddle.jit.save(graph, str(self.base))
        sizes = {one.name: one.stat().st_size for one in sorted(self.base.parent.iterdir())}
        wanted = [any(sizes.get(f"model{end}") for end in GRAPHS), sizes.get(f"model{WEIGHTS}")]
        require(all(wanted), f"a graph or its weights are missing: {sizes}")
        return ", ".join(f"{name} {size} bytes" for name, size in sizes.items())

    def predicted(self) -> str:
        """Paddle's inference engine loads the files and runs them."""
        graph = next(self.base.with_suffix(end) for end in GRAPHS
                     if self.base.with_suffix(end).exists())  # fmt: skip
        config = paddle.inference.Config(str(graph), str(self.base.with_suffix(WEIGHTS)))
        if self.wanted["on_device"]:
            config.enable_custom_device(self.target.device, 0)
        engine = paddle.inference.create_predictor(config)
        engine.get_input_handle(engine.get_input_names()[0]).copy_from_cpu(self.ids)
        engine.run()
        self.static = engine.get_output_handle(engine.get_output_names()[0]).copy_to_cpu()
        return f"scores {list(self.static.shape)} from {graph.name}"

    def as_dynamic(self) -> str:
        """The graph says what the model said: each score, and the token that each place prefers."""
        worst = self.target.close(self.static, self.dynamic)
        self.target.report.write("figure", name="largest_difference", value=worst)
        ours, theirs = (scores.argmax(-1) for scores in (self.static, self.dynamic))
        require(bool((ours == theirs).all()), f"tokens {ours.tolist()}, not {theirs.tolist()}")
        return f"largest difference {worst:.1e}; the same {ours.size} tokens"


def main() -> None:
    """Run the checks until one fails that the next ones need."""
    given, spec = arguments(__doc__ or "")
    report = Report(given.out)
    target, wanted = Target(given.device, spec, report), spec["deploy"]
    run = Run(target, given.out.parent, spec)
    checks = (target.select, run.dynamic_result, run.exported, run.predicted, run.as_dynamic)
    if all(report.check(check.__name__, check) for check in checks):
        if not wanted["on_device"]:
            reason = f"predicted on the CPU: {wanted['reason']}"
            report.write("skipped", name=f"prediction on {given.device}", reason=reason)
        target.prove()
    report.write("end")


if __name__ == "__main__":
    main()
