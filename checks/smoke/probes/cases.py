"""What the fused operators are asked: random tensors with their exact values, and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import paddle
from target import Array, Target, values

Tensor = Any


@dataclass
class Problem:
    """One call: its `inputs`, which want gradients, what else is `given`, and the `wanted` results.

    `back` has the exact gradients by input for those of the results. `derive` makes further values
    of the inputs, and `after` the results of what a call gave, which may still have to be split.
    """

    inputs: dict[str, Tensor]
    given: dict[str, Any]
    wanted: dict[str, Array]
    back: Callable[[Mapping[str, Array]], dict[str, Array]]
    derive: Callable[[], dict[str, Tensor]] = field(default=dict)
    after: Callable[[dict[str, Tensor]], dict[str, Tensor]] = field(default=lambda found: found)

    def values(self) -> dict[str, Any]:
        """All that a call may take, by its name."""
        return {**self.inputs, **self.given, **self.derive(), "none": None}


class Case:
    """A dtype and a layout in memory: draws rounded inputs, compares what came back."""

    def __init__(self, target: Target, dtype: str, seed: int) -> None:
        self.target, self.dtype = target, dtype
        self._random = np.random.default_rng(seed)
        self.worst = 0.0

    def draw(self, *shape: int) -> tuple[Tensor, Array]:
        """A random tensor of the dtype that wants a gradient, and its values in float64."""
        drawn = paddle.to_tensor(self._random.standard_normal(shape)).astype(self.dtype)
        made = self.laid_out(drawn).detach()
        made.stop_gradient = False
        return made, values(made).astype("float64")

    @staticmethod
    def laid_out(tensor: Tensor) -> Tensor:
        """The tensor as it lies in memory for this case."""
        return tensor

    def fixed(self, array: Array, dtype: str = "") -> Tensor:
        """A tensor that wants no gradient, of the case's dtype or of another."""
        return paddle.to_tensor(array).astype(dtype or self.dtype)

    def compare(self, result: Tensor, wanted: Array, also: str = "") -> None:
        """Check the place, dtype and values of a result; `also` is another dtype that may be.

        Raises AssertionError.
        """
        dtypes = {self.dtype, also or self.dtype}
        if not any(dtype in str(result.dtype) for dtype in dtypes):
            raise AssertionError(f"{result.dtype} instead of {self.dtype}")
        found = self.target.read(result).astype("float64")
        self.worst = max(self.worst, self.target.close(found, wanted, self.dtype))


class Strided(Case):
    """The same with inputs whose axes lie in memory in reverse: no kernel may take them as rows."""

    @staticmethod
    def laid_out(tensor: Tensor) -> Tensor:
        """See Case."""
        back = list(reversed(range(tensor.ndim)))
        return tensor.transpose(back).contiguous().transpose(back)


def has_views() -> bool:
    """Whether a tensor can lie in memory in another order than its axes have.

    Not where Paddle copies in place of that, as with FLAGS_use_stride_kernel=0.
    """
    return not Strided.laid_out(paddle.ones([2, 3])).is_contiguous()
