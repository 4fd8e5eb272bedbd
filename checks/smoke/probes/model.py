"""Smoke level `model`: a real language model's perplexity, on the device and on the CPU.

python model.py --device loopback --out result.jsonl --spec spec.json
"""

from __future__ import annotations

import hashlib
import importlib
import math
from collections.abc import Callable
from typing import Any

from llama import Fused, Kernels, Llama, Plain, mean_loss, window_losses, windows
from report import Report, arguments, require
from target import Target, on_cpu
from weights import Model, load, packaged


class Run:
    """The level's checks; each leaves what the next ones need."""

    def __init__(self, target: Target, spec: dict[str, Any]) -> None:
        self.target, self.spec = target, spec
        self.wanted: dict[str, Any] = spec["model"]
        self.model: Model
        self.windows: list[Any] = []
        self.sums: dict[str, list[float]] = {}

    def weights(self) -> str:
        """The pinned weights are there and readable."""
        wanted = self.wanted
        path = packaged(wanted["package"], wanted["weights"], wanted["weights_sha256"])
        self.model = load(path)
        return f"{path.name}, {len(self.model.weights)} tensors"

    def tokens(self) -> str:
        """The pinned text becomes the ids that the reference was computed on."""
        wanted = self.wanted
        path = packaged(wanted["package"], wanted["text"], wanted["text_sha256"])
        ids = self.model.tokenizer.encode(path.read_text(encoding="utf-8"))[: wanted["tokens"]]
        found = hashlib.sha256(",".join(map(str, ids)).encode()).hexdigest()
        require(found == wanted["ids_sha256"], f"other ids than the reference's: sha256 {found}")
        self.windows = windows(ids, wanted["window"])
        self.target.report.write("figure", name="tokens", value=len(ids))
        return f"{len(ids)} tokens in {len(self.windows)} windows of {wanted['window']}"

    def on_cpu(self) -> str:
        """The CPU's perplexity, to compare with."""
        with on_cpu():
            alive = self.target.report.write
            return self.measure("cpu", Plain(), lambda _: alive("progress"))

    def on_device(self) -> str:
        """The device's perplexity, in elementary operations."""
        return self.measure("device", Plain(), self.target.watch)

    def as_cpu(self) -> str:
        """The device's perplexity is the CPU's, computed in this run."""
        return near(self.perplexity("device"), self.perplexity("cpu"), self.wanted["agreement"])

    def as_reference(self) -> str:
        """The device's perplexity is the one that an independent engine found."""
        wanted = self.wanted
        self.target.report.write("figure", name="perplexity_reference", value=wanted["perplexity"])
        return near(self.perplexity("device"), wanted["perplexity"], wanted["reference_tolerance"])

    def fused(self) -> str:
        """The first window once more, through the backend's fused operators."""
        ops = importlib.import_module(self.spec["ops_module"])
        before = ops.counts()
        self.measure("fused", Fused(ops), self.target.watch, count=1)
        ran = {name: n - before.get(name, 0) for name, n in ops.counts().items()}
        ran = {name: n for name, n in ran.items() if n}
        self.target.report.write("ran", kernels=ran)
        layers = self.model.sizes.layers
        want = sorted([layers, layers, 2 * layers + 1])  # rotation, attention, normalisation
        require(sorted(ran.values()) == want, f"ran natively: {ran}, expected {want} times")
        plain = self.perplexity("device", count=1)
        return near(self.perplexity("fused"), plain, self.wanted["agreement"])

    def measure(
        self, name: str, kernels: Kernels, seen: Callable[[Any], object], count: int | None = None
    ) -> str:
        """Run the model over the first `count` windows and record its perplexity as a figure."""
        self.sums[name] = window_losses(Llama(self.model, kernels), self.windows[:count], seen)
        value = self.perplexity(name)
        self.target.report.write("figure", name=f"perplexity_{name}", value=value)
        return f"perplexity {value:.6f} over {len(self.sums[name])} windows"

    def perplexity(self, name: str, count: int | None = None) -> float:
        """The perplexity over what was measured under a name, or its first `count` windows."""
        sums = self.sums[name][:count]
        return math.exp(mean_loss(sums, self.windows[: len(sums)]))


def near(found: float, wanted: float, tolerance: float) -> str:
    """Check a relative difference. Raises AssertionError."""
    difference = abs(found / wanted - 1)
    text = f"{found:.6f} against {wanted:.6f}: {difference:.1e} apart, {tolerance:.0e} allowed"
    require(difference <= tolerance, text)  # also false for NaN
    return text


def main() -> None:
    """Run the checks until one fails that the next ones need."""
    given, spec = arguments(__doc__ or "")
    report = Report(given.out)
    target = Target(given.device, spec, report)
    run = Run(target, spec)
    needed = (target.select, run.weights, run.tokens, run.on_cpu, run.on_device)
    if all(report.check(check.__name__, check) for check in needed):
        fused = (run.fused,) if spec["ops_module"] else ()
        for check in (run.as_cpu, run.as_reference, *fused):
            report.check(check.__name__, check)
        if not fused:
            report.write("skipped", name="fused operators", reason="none for this target")
        target.prove()
    report.write("end")


if __name__ == "__main__":
    main()
