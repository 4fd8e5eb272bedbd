"""Smoke level `train`: PaddleNLP's Llama, tiny, learns on the device what it learns on the CPU.

python train.py --device loopback --out result.jsonl --spec spec.json
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paddle
from report import Report, arguments, require
from target import Array, Target, Tensor, on_cpu, peak, values
from tiny_llama import build, draw

# Names as in a fresh process: by them the optimizer finds its states in a checkpoint.
fresh_names = paddle.utils.unique_name.guard


class Learner:
    """The tiny model and its optimizer on the default device."""

    def __init__(self, tiny: dict[str, Any], rate: float, state: dict[str, Array] | None) -> None:
        self.model, self.ids = build(tiny, state), paddle.to_tensor(draw(tiny))
        self.optimizer = paddle.optimizer.AdamW(rate, parameters=self.model.parameters())

    def step(self) -> Tensor:
        """The loss before one step of AdamW on the same ids each time."""
        loss = self.model(input_ids=self.ids, labels=self.ids)[0]
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return loss.detach()

    def save(self, folder: Path) -> None:
        """Write a checkpoint: the weights and the optimizer's states."""
        paddle.save(self.model.state_dict(), str(folder / "model.pdparams"))
        paddle.save(self.optimizer.state_dict(), str(folder / "model.pdopt"))

    def load(self, folder: Path) -> None:
        """Go back to a checkpoint."""
        self.model.set_state_dict(paddle.load(str(folder / "model.pdparams")))
        self.optimizer.set_state_dict(paddle.load(str(folder / "model.pdopt")))


class Run:
    """The level's checks; each leaves what the next ones need."""

    def __init__(self, target: Target, folder: Path, spec: dict[str, Any]) -> None:
        self.target, self.folder, self.tiny, self.wanted = (
            target,
            folder,
            spec["tiny"],
            spec["train"],
        )
        self.half = self.wanted["steps"] // 2
        self.state: dict[str, Array] = {}
        self.cpu: list[float] = []
        self.losses: list[float] = []

    def learner(self) -> Learner:
        """A learner with the weights that the CPU started from."""
        return Learner(self.tiny, self.wanted["learning_rate"], self.state or None)

    def on_cpu(self) -> str:
        """The CPU's losses, to compare with."""
        alive = self.target.report.write
        with on_cpu(), fresh_names():
            learner = self.learner()
            self.state = {name: values(w) for name, w in learner.model.state_dict().items()}
            self.cpu = self.losses_of(learner, self.wanted["steps"], lambda _: alive("progress"))
        return told(self.cpu)

    def on_device(self) -> str:
        """The device's losses; a checkpoint is saved half-way."""
        watch = self.target.watch
        with fresh_names():
            learner = self.learner()
            self.losses = self.losses_of(learner, self.half, watch)
            learner.save(self.folder)
            self.losses += self.losses_of(learner, self.wanted["steps"] - self.half, watch)
        report = self.target.report
        report.write("figure", name="peak_bytes", value=peak())
        report.write("series", name="loss", values=self.losses)
        report.write("figure", name="loss_first", value=self.losses[0])
        report.write("figure", name="loss_last", value=self.losses[-1])
        return f"{told(self.losses)}; {self.stay(learner)} weights and states of AdamW there, too"

    def stay(self, learner: Learner) -> int:
        """How many weights and moments there are; raises Elsewhere when one left the device.

        Not its powers of beta, single numbers that Paddle keeps on the CPU for some devices.
        """
        states = learner.optimizer.state_dict()
        moments = [state for name, state in states.items() if "moment" in name]
        require(bool(moments), f"AdamW has no moments: {sorted(states)}")
        kept = [*learner.model.parameters(), *moments]
        for tensor in kept:
            self.target.read(tensor)
        return len(kept)

    def as_cpu(self) -> str:
        """Every loss on the device is the CPU's."""
        return near(self.losses, self.cpu, self.wanted["agreement"])

    def resumed(self) -> str:
        """From the checkpoint another model goes on as if it had never stopped."""
        rest = self.losses[self.half :]
        with fresh_names():
            learner = self.learner()
            learner.load(self.folder)
            found = self.losses_of(learner, len(rest), self.target.watch)
        return f"from step {self.half}: {near(found, rest, self.wanted['agreement'])}"

    def losses_of(
        self, learner: Learner, steps: int, seen: Callable[[Tensor], object]
    ) -> list[float]:
        """The losses of so many steps; `seen` gets each as it is there.

        Raises AssertionError for one that is no finite number.
        """
        losses: list[float] = []
        for _ in range(steps):
            loss = learner.step()
            seen(loss)
            losses.append(float(values(loss)))
            require(math.isfinite(losses[-1]), f"the loss of step {len(losses)} is {losses[-1]}")
        return losses


def near(found: list[float], wanted: list[float], tolerance: float) -> str:
    """Check the largest relative difference of losses. Raises AssertionError."""
    apart = [abs(a / b - 1) for a, b in zip(found, wanted, strict=True)]
    require(all(one <= tolerance for one in apart), f"{found} instead of {wanted}")  # nor NaN
    return f"{len(apart)} losses at most {max(apart):.1e} apart, {tolerance:.0e} allowed"


def told(losses: list[float]) -> str:
    """The losses of a run in short."""
    return f"{len(losses)} steps, loss {losses[0]:.4f} to {losses[-1]:.4f}"


def main() -> None:
    """Run the checks until one fails that the next ones need."""
    given, spec = arguments(__doc__ or "")
    report = Report(given.out)
    target = Target(given.device, spec, report)
    run = Run(target, given.out.parent, spec)
    needed = (target.select, run.on_cpu, run.on_device)
    if all(report.check(check.__name__, check) for check in needed):
        for check in (run.as_cpu, run.resumed):
            report.check(check.__name__, check)
        report.write("skipped", name="two processes", reason=spec["train"]["alone"])
        target.prove()
    report.write("end")


if __name__ == "__main__":
    main()
