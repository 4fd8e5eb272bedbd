"""The device under test: tensors on it, comparisons against the CPU, and the proof of place."""

from __future__ import annotations

import ctypes
import importlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import paddle
from report import Report, explain, require

Array = Any  # a numpy array; the stacks' numpy versions disagree about its type parameters
Tensor = Any  # a paddle tensor


class Elsewhere(AssertionError):
    """A result that is not on the device under test."""


class Target:
    """One device, the tolerances, and a tally of the places where its results were found."""

    def __init__(self, device: str, spec: dict[str, Any], report: Report) -> None:
        self.device = device
        self.spec = spec
        self.report = report
        self.places: Counter[str] = Counter()
        self.stand_in = False  # whether a library in host memory serves a card's type

    def select(self) -> str:
        """Make the device the default one and record what the plugin counted so far."""
        types = ["cpu", *(paddle.device.get_all_custom_device_type() or [])]
        library = in_host_memory(self.device)
        self.stand_in = bool(library) and self.device != "loopback"
        self.report.write(
            "begin", registered=types, counters=self.counters(), host_memory=library
        )  # fmt: skip
        require(self.device in types, f"Paddle loaded no plugin for it; devices: {types}")
        return str(paddle.set_device(self.device))

    def prove(self) -> None:
        """Record where results were found and what the plugin has counted by now."""
        self.report.write("proof", places=dict(self.places), counters=self.counters())

    def counters(self) -> dict[str, Any] | None:
        """What the device's plugin counted in this process, or why it cannot say.

        None where it tells no counts, as the vendors' plugins do, and the target does not ask.
        """
        try:
            plugin = importlib.import_module(f"paddle_custom_device.{self.device}")
            counted: dict[str, Any] = plugin.stats()
        except Exception as problem:  # e.g. installed but not loaded: the verdict weighs it
            none = isinstance(problem, ImportError | AttributeError) and not self.spec["counted"]
            return None if none else {"unavailable": explain(problem)}
        return counted

    def watch(self, result: Tensor) -> None:
        """Check and record where an intermediate result is; also a sign of life for the caller."""
        self.read(result)
        self.prove()

    def tensor(self, array: Array, dtype: str | None = None, leaf: bool = False) -> Tensor:
        """The array as a tensor on the current device; `leaf` asks for its gradient."""
        made = paddle.to_tensor(array, dtype=dtype)
        made.stop_gradient = not leaf
        return made

    def read(self, result: Tensor) -> Array:
        """A result's values, after its place is checked and counted. bfloat16 as float32.

        A tensor without elements has no memory that could be anywhere: Paddle says `cpu` for those
        that its fallback made. Raises Elsewhere when another one is not on the device.
        """
        if not result.size:
            return values(result)
        where = place(result)
        self.places[where] += 1
        if where.partition(":")[0] != self.device:
            raise Elsewhere(f"the result is on {where}, not on {self.device}")
        return values(result)

    def agree(self, run: Callable[..., Any], *arrays: Array) -> str:
        """Check that `run` over the arrays gives on the device what it gives on the CPU."""
        found = [self.read(r) for r in several(run(*map(self.tensor, arrays)))]
        with on_cpu():
            wanted = [values(r) for r in several(run(*map(self.tensor, arrays)))]
        if len(found) != len(wanted):
            raise AssertionError(f"{len(found)} results, the CPU gives {len(wanted)}")
        worst = max(self.close(a, b) for a, b in zip(found, wanted, strict=True))
        return f"{len(found)} results, largest difference {worst:.1e}"

    def close(self, found: Array, wanted: Array, dtype: str | None = None) -> float:
        """The largest difference of two arrays, which must be within the dtype's tolerance.

        The absolute part of it grows with the largest value: a sum that cancels to nearly nothing
        still has the rounding errors of its parts.
        Raises AssertionError on another shape, dtype or value.
        """
        if found.shape != wanted.shape or (dtype is None and found.dtype != wanted.dtype):
            raise AssertionError(
                f"{found.dtype}{list(found.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
            )
        relative, absolute = self.spec["tolerance"].get(dtype or str(wanted.dtype), (0, 0))
        if relative == absolute == 0 or not found.size:
            np.testing.assert_array_equal(found, wanted)
            return 0.0
        scale = max(1.0, float(np.max(np.abs(wanted))))
        np.testing.assert_allclose(found, wanted, relative, absolute * scale)
        return float(np.max(np.abs(found - wanted)))


def place(tensor: Tensor) -> str:
    """Where a tensor is, as Paddle says: `cpu` or `loopback:0`."""
    match = re.fullmatch(r"Place\((.+)\)", str(tensor.place))
    return match[1] if match else str(tensor.place)


def values(tensor: Tensor) -> Array:
    """A tensor's values as numpy; bfloat16, which numpy does not know, as float32."""
    return (tensor.astype("float32") if tensor.dtype == paddle.bfloat16 else tensor).numpy()


def several(result: Any) -> Sequence[Tensor]:
    """One result or many, as a list."""
    return list(result) if isinstance(result, list | tuple) else [result]


@contextmanager
def on_cpu() -> Iterator[None]:
    """Make the CPU the default device for a while."""
    before = paddle.get_device()
    paddle.set_device("cpu")
    try:
        yield
    finally:
        paddle.set_device(before)


def quiet() -> str:
    """Switch Paddle's log off, since it costs time at each call; a note where that cannot be."""
    switch = getattr(paddle.base.core, "set_vlog_level", None)  # not yet in Paddle 3.0
    if switch is None:
        return "; slowed by Paddle's log"
    switch({"*": 0})
    return ""


def wait() -> None:
    """Wait until the current device has done all that it was given; the CPU always has."""
    if paddle.get_device() != "cpu":
        paddle.device.synchronize()


def peak() -> int:
    """The most bytes that tensors had on the device at once, as Paddle's allocator counted.

    What `paddle.device.max_memory_allocated`, which Paddle 3.0 has not, asks in later releases.
    """
    return int(paddle.base.core.device_memory_stat_peak_value("Allocated", 0))


def in_host_memory(device: str) -> str:
    """The name of the library in this process that serves the device in host memory; "" for none.

    Asked of what is really loaded: its own function tells, no flag and no name of a file.
    """
    rows = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
    for path in sorted({row.split(maxsplit=5)[-1] for row in rows.splitlines() if ".so" in row}):
        try:
            library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
            library.loopback_device_type.restype = ctypes.c_char_p
            served = library.loopback_device_type()
        except (OSError, AttributeError):  # mapped as a file only, or another library
            continue
        if served.decode() == device:
            return Path(path).name
    return ""
