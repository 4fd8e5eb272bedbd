"""Device checks: gradients and optimizers."""

from __future__ import annotations

from typing import Any

import paddle
from device_math import normal
from report import require
from target import Target, Tensor


def gradients(target: Target) -> str:
    """The gradients of a small network, by its input and by its weights."""

    def run(x: Tensor, w: Tensor, b: Tensor) -> list[Tensor]:
        leaves = [x, w, b]
        for leaf in leaves:
            leaf.stop_gradient = False
        loss = (paddle.nn.functional.gelu(paddle.matmul(x, w) + b) ** 2).mean()
        loss.backward()
        return [loss.detach(), *(leaf.grad for leaf in leaves)]

    return target.agree(run, normal(1, 6, 8), normal(2, 8, 4), normal(3, 4))


def slice_gradients(target: Target) -> str:
    """The gradient of a slice is zero outside of it."""

    def run(x: Tensor) -> Tensor:
        x.stop_gradient = False
        (x[1:3, ::2] * 3).sum().backward()
        return x.grad

    return target.agree(run, normal(4, 5, 6))


def attention_gradients(target: Target) -> str:
    """Gradients through transposed views: attention written in plain operations."""

    def run(q: Tensor, k: Tensor, v: Tensor) -> list[Tensor]:
        for leaf in (q, k, v):
            leaf.stop_gradient = False
        heads = [x.transpose([0, 2, 1, 3]) for x in (q, k, v)]
        scores = paddle.matmul(heads[0], heads[1], transpose_y=True) * 0.3
        mixed = paddle.matmul(paddle.nn.functional.softmax(scores), heads[2])
        (mixed.transpose([0, 2, 1, 3]).reshape([2, 5, -1]) ** 2).sum().backward()
        return [q.grad, k.grad, v.grad]

    return target.agree(run, *(normal(seed, 2, 5, 3, 4) for seed in (5, 6, 7)))


def network() -> Any:
    """A small network whose weights the caller sets."""
    nn = paddle.nn
    return nn.Sequential(nn.Linear(8, 16), nn.Silu(), nn.LayerNorm(16), nn.Linear(16, 4))


def train(x: Tensor, labels: Tensor, optimizer: str, steps: int) -> list[Tensor]:
    """Train the network from fixed weights; its losses and its final weights."""
    model = network()
    for seed, weight in enumerate(model.parameters()):
        weight.set_value(normal(seed, *weight.shape) * 0.3)
    optimize = getattr(paddle.optimizer, optimizer)(0.05, parameters=model.parameters())
    losses = []
    for _ in range(steps):
        loss = paddle.nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimize.step()
        optimize.clear_grad()
        losses.append(loss.detach())
    return losses + [weight.detach() for weight in model.parameters()]


def adamw_step(target: Target) -> str:
    """One AdamW step leads to the CPU's weights."""
    return target.agree(
        lambda x: train(x, paddle.arange(8) % 4, "AdamW", 1), normal(8, 8, 8)
    )  # fmt: skip


def training(target: Target) -> str:
    """Ten SGD steps follow the CPU's losses, and these fall."""
    x = normal(9, 8, 8)
    said = target.agree(lambda x: train(x, paddle.arange(8) % 4, "SGD", 10), x)
    losses = [
        float(target.read(loss))
        for loss in train(target.tensor(x), paddle.arange(8) % 4, "SGD", 10)[:10]
    ]
    require(losses[-1] < losses[0], f"the loss went from {losses[0]} to {losses[-1]}")
    return f"loss {losses[0]:.4f} to {losses[-1]:.4f}; {said}"


CHECKS = (gradients, slice_gradients, attention_gradients, adamw_step, training)
