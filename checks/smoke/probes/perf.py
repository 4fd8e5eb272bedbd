"""Smoke level `perf`: how fast a real language model loads, begins to answer, and goes on.

python perf.py --device loopback --out result.jsonl --spec spec.json
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import paddle
from llama import Llama, Past, Plain
from report import Report, arguments, require
from target import Target, peak, quiet, wait
from weights import Model, load, packaged


class Run:
    """The level's checks; each leaves what the next ones need."""

    def __init__(self, target: Target, spec: dict[str, Any]) -> None:
        self.target, self.model, self.wanted = target, spec["model"], spec["perf"]
        self.llama: Llama
        self.prompt: list[int] = []
        self.answer: list[int] = []

    def loaded(self) -> str:
        """From the model's file to weights on the device."""
        path = self.packaged("weights")  # its hash is taken before the clock runs
        begin = time.perf_counter()
        model: Model = load(path)
        self.llama = Llama(model, Plain())
        wait()
        seconds = time.perf_counter() - begin
        self.figure("load_seconds", seconds)
        content = self.packaged("text").read_text(encoding="utf-8")
        self.prompt = model.tokenizer.encode(content)[: self.wanted["prompt"]]
        return f"{len(model.weights)} tensors in {seconds:.2f} s"

    def packaged(self, name: str) -> Any:
        """The path of one of the pinned files."""
        wanted = self.model
        return packaged(wanted["package"], wanted[name], wanted[f"{name}_sha256"])

    def warm_up(self) -> str:
        """One prompt and one token more, not measured; then the log, which counts, goes off."""
        past = Past()
        self.next(self.next(self.prompt, past)[0], past)
        return f"{len(self.prompt)} tokens{quiet()}"

    def first_token(self) -> str:
        """From the prompt to the first token of the answer, several times."""
        return self.spread("first_token", [
            self.next(self.prompt, Past())[1] for _ in range(self.wanted["repeats"])
        ])  # fmt: skip

    def tokens(self) -> str:
        """Each further token, with the keys and values of those before it kept."""
        past = Past()
        token, _ = self.next(self.prompt, past)
        self.answer, seconds = list(token), []
        for _ in range(self.wanted["tokens"]):
            token, took = self.next(token, past)
            self.answer += token
            seconds.append(took)
        self.target.report.write("series", name="token_seconds", values=seconds)
        said = self.spread("token", seconds)
        self.figure("tokens_per_second", 1 / statistics.median(seconds))
        return said

    def as_whole(self) -> str:
        """The answer is the one that the model prefers when it reads all of it at once."""
        with paddle.no_grad():
            scores = self.llama.logits([*self.prompt, *self.answer])
        found = self.target.read(scores).argmax(-1)[len(self.prompt) - 1 : -1].tolist()
        require(found == self.answer, f"tokens {self.answer}, read at once {found}")
        return f"{len(found)} tokens"

    def memory(self) -> str:
        """The most bytes on the device at once: whatever it is, it is more than nothing."""
        most = peak()
        require(most > 0, "Paddle's allocator counted nothing on the device")
        self.figure("peak_bytes", most)
        return f"{most} bytes"

    def next(self, ids: Sequence[int], past: Past) -> tuple[list[int], float]:
        """The token after `ids`, and the seconds until it was on the host."""
        wait()
        begin = time.perf_counter()
        with paddle.no_grad():
            best = self.llama.logits(ids, past)[-1].argmax()
        token = int(self.target.read(best))
        seconds = time.perf_counter() - begin
        self.target.prove()
        return [token], seconds

    def spread(self, name: str, seconds: list[float]) -> str:
        """Record the median of some times, and their median absolute deviation as a share of it."""
        median = statistics.median(seconds)
        spread = statistics.median(abs(one - median) for one in seconds) / median
        self.figure(f"{name}_seconds", median)
        self.figure(f"{name}_spread", spread)
        return f"median {median * 1000:.1f} ms of {len(seconds)}, spread {spread:.0%}"

    def figure(self, name: str, value: float) -> None:
        """Record one figure."""
        self.target.report.write("figure", name=name, value=value)


def main() -> None:
    """Run the checks until one fails that the next ones need."""
    given, spec = arguments(__doc__ or "")
    report = Report(given.out)
    target = Target(given.device, spec, report)
    run = Run(target, spec)
    needed = (target.select, run.loaded, run.warm_up, run.first_token, run.tokens)
    if all(report.check(check.__name__, check) for check in needed):
        for check in (run.memory, run.as_whole):
            report.check(check.__name__, check)
        target.prove()
    report.write("end")


if __name__ == "__main__":
    main()
