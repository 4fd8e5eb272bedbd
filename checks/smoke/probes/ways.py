"""One way to compute an operation: a function of Paddle's, or an operator of a plugin."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import paddle
from paddle.base.framework import OpProtoHolder
from report import Absent, require
from target import several

_FRAMEWORK = {  # what Paddle adds to the attributes of each operator
    "op_role", "op_role_var", "op_namescope", "op_callstack", "op_device", "with_quant_attr",
}  # fmt: skip
# How Paddle says that it has no such kernel, or none for this dtype, or only one for a GPU.
_UNREGISTERED = re.compile(r"[Kk]ernel `(\w+)` is not registered")
_DTYPE = re.compile(r"kernel with key \(\w+, [^)]*?\)?, (\w+)\) of kernel")
_NO_OPERATOR = re.compile(r"eager\.ops\S*' has no attribute '(\w+)'")
_SOURCE = re.compile(r"/(\w+?)(?:_kernel)?\.(?:cc|cu|h):\d+")


class Way:
    """An operator as a row of the data tells it."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.row, self.full = row, row["name"]
        self.name = self.full.rpartition(".")[2]
        self.operation, self.gives = row["operation"], row["gives"]
        self.own = bool(row["device"])
        self.gradient = row["gradient"]

    @property
    def label(self) -> str:
        """Its name in results, such as `rms_norm.fused_rms_norm`."""
        return f"{self.operation}.{self.name}"

    def made_for(self, dtype: str) -> bool:
        """Whether its maker says that it takes the dtype."""
        return not self.row["dtypes"] or dtype in self.row["dtypes"]

    @property
    def grouped(self) -> bool:
        """Whether keys may have fewer heads than queries."""
        needed = self.row["grouped"]
        if "." not in self.full or not needed:
            return bool(needed)
        return needed in inspect.signature(self.function).parameters

    @cached_property
    def function(self) -> Callable[..., Any]:
        """What is called. Raises Absent where this Paddle, or the plugin, does not have it."""
        if "." not in self.full:
            return self._registered()
        found: Any = paddle
        for part in self.full.split(".")[1:]:
            if not hasattr(found, part):
                raise Absent(f"not in paddlepaddle {paddle.__version__}")
            found = getattr(found, part)
        function: Callable[..., Any] = found
        return function

    def __call__(self, values: dict[str, Any]) -> dict[str, Any]:
        """Its results by their names."""
        given = {name: values[value] for name, value in self.row["takes"].items()}
        results = several(self.function(**given, **self.row["constants"]))
        require(len(results) >= len(self.gives), f"{len(results)} results, not {self.gives}")
        return {name: one for name, one in zip(self.gives, results, strict=False) if name}

    def _registered(self) -> Callable[..., Any]:
        """The operator of a plugin, called by the names that it has registered."""
        protos = OpProtoHolder.instance()
        if not protos.has_op_proto(self.full):
            raise Absent("not registered by the plugin")
        proto = protos.get_op_proto(self.full)
        inputs = {one.name.partition("@")[0]: one.dispensable for one in proto.inputs}
        attributes = [one.name for one in proto.attrs if one.name not in _FRAMEWORK]

        def call(**given: Any) -> Any:
            known = {name: None for name, may in inputs.items() if may} | given
            order = [*inputs, *attributes]
            if unknown := [name for name in order if name not in known]:
                raise TypeError(f"{self.full} has parameters that are not known: {unknown}")
            arguments = [known[name] for name in order]
            return paddle.base.core.eager._run_custom_op(self.full, *arguments)

        return call


def absent(problem: Exception) -> Absent | None:
    """What is not there, where a failure says no more than that."""
    if isinstance(problem, Absent):
        return problem
    said = str(problem)
    if found := _UNREGISTERED.search(said):
        dtype = _DTYPE.search(said)
        return Absent(f"no kernel {found[1]}" + (f" for {dtype[1]}" if dtype else ""))
    if found := _NO_OPERATOR.search(said):
        return Absent(f"no operator {found[1]}")
    if isinstance(problem, NotImplementedError):
        found = _SOURCE.search(said)
        return Absent(f"not implemented: {found[1] if found else said.strip()[:80]}")
    return None


def register(plugins: Sequence[Path]) -> list[str]:
    """Register the operators in these libraries, as PaddleNLP does; the names of new ones."""
    return [
        name
        for library in plugins
        for name in paddle.utils.cpp_extension.load_op_meta_info_and_register_op(str(library))
    ]


def plugins() -> list[Path]:
    """The libraries of the plugins that Paddle has loaded."""
    folder = os.environ.get("CUSTOM_DEVICE_ROOT")  # Paddle sets it where a user has not
    return sorted(Path(folder).glob("*.so")) if folder else []
