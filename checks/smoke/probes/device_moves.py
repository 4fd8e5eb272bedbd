"""Device checks: registration, and data going there and back."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import paddle
from report import require
from target import Target

DTYPES = (
    "float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool",
    "complex64",
)  # fmt: skip
LARGE = 1 << 22  # elements: 16 MiB of float32


def registered(target: Target) -> str:
    """Paddle lists the device's type."""
    types = ["cpu", *(paddle.device.get_all_custom_device_type() or [])]
    require(target.device in types, f"Paddle knows {', '.join(types)}")
    return f"device types: {', '.join(types)}"


def counted(target: Target) -> str:
    """At least one device of the type is available."""
    if target.device == "cpu":
        return "1 device"
    names = paddle.device.get_available_custom_device() or []
    own = [name for name in names if name.partition(":")[0] == target.device]
    require(bool(own), f"available: {names}")
    return f"{len(own)} available: {', '.join(own)}"


def default_place(target: Target) -> str:
    """The selected device is the default one, and new tensors are on it."""
    current = str(paddle.get_device())
    require(current.partition(":")[0] == target.device, f"the default device is {current}")
    for made in (paddle.ones([2, 3]), paddle.arange(4), paddle.to_tensor([1.5])):
        target.read(made)
    return current


def transfers(target: Target) -> str:
    """Values of every dtype survive the way there and back bit by bit."""
    bits = np.random.default_rng(1).integers(0, 100, (3, 5, 7))
    for dtype in DTYPES:
        sent = bits.astype(dtype)
        np.testing.assert_array_equal(target.read(target.tensor(sent)), sent, strict=True)
    return f"{len(DTYPES)} dtypes"


def large_transfer(target: Target) -> str:
    """16 MiB survive the way there and back."""
    sent = np.random.default_rng(2).standard_normal(LARGE, dtype="float32")
    np.testing.assert_array_equal(target.read(target.tensor(sent)), sent)
    return f"{sent.nbytes >> 20} MiB"


def from_cpu_tensor(target: Target) -> str:
    """A CPU tensor moves to the device, and back to the CPU, unchanged."""
    sent = np.arange(24, dtype="float32").reshape(2, 3, 4)
    there = paddle.to_tensor(sent, place=paddle.CPUPlace()).to(target.device)
    np.testing.assert_array_equal(target.read(there), sent)
    back = there.cpu()
    require(str(back.place) == "Place(cpu)", f"cpu() left it on {back.place}")
    np.testing.assert_array_equal(back.numpy(), sent)
    return "cpu to device to cpu"


def copies(target: Target) -> str:
    """A clone on the device is a copy of its own."""
    first = target.tensor(np.arange(6, dtype="float32"))
    second = first.clone()
    first.add_(paddle.to_tensor(1.0))
    np.testing.assert_array_equal(target.read(second), np.arange(6))
    np.testing.assert_array_equal(target.read(first), np.arange(1, 7))
    return "clone is independent"


def casts(target: Target) -> str:
    """Casts between dtypes give what the CPU gives, bfloat16's rounding included."""
    source = np.random.default_rng(3).uniform(-50, 50, (4, 9)).astype("float32")
    for dtype in ("float64", "float16", "bfloat16", "int32", "int64", "bool"):
        target.agree(lambda x, to=dtype: x.astype(to), source)
        target.agree(lambda x, to=dtype: x.astype(to).astype("float32"), source)
    return "float32 to 6 dtypes and back"


def saves(target: Target) -> str:
    """A saved state loads again onto the device with the same values."""
    paddle.seed(4)
    layer = paddle.nn.Linear(5, 3)
    wanted = {name: target.read(value) for name, value in layer.state_dict().items()}
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "layer.pdparams")
        paddle.save(layer.state_dict(), file)
        other = paddle.nn.Linear(5, 3)
        other.set_state_dict(paddle.load(file))
    for name, value in other.state_dict().items():
        np.testing.assert_array_equal(target.read(value), wanted[name])
    return f"{len(wanted)} tensors"


def synchronises(target: Target) -> str:
    """Waiting for the device ends, and what was queued before it is there."""
    queued = target.tensor(np.ones((64, 64), "float32"))
    for _ in range(8):
        queued = queued + queued
    if target.device != "cpu":  # Paddle has nothing to wait for there
        paddle.device.synchronize(target.device)
    np.testing.assert_array_equal(target.read(queued), np.full((64, 64), 256, "float32"))
    return "8 queued operations"


CHECKS = (
    registered, counted, default_place, transfers, large_transfer, from_cpu_tensor, copies, casts,
    saves, synchronises,
)  # fmt: skip
