"""The fused operators of all backends, from `images/fused_operators.toml`, and what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from checks.smoke.process import Ended
from provision.document import Table, tables
from provision.paths import IMAGES

FILE = "fused_operators.toml"
Operation = Literal[
    "rms_norm", "add_rms_norm", "rotary", "attention", "swiglu", "qkv", "qkv_bias", "ffn"
]


class Operator(Table, frozen=True):
    """How an operator is called; the fields stand in the file's head."""

    operation: Operation
    name: str
    takes: dict[str, str]
    gives: list[str]
    source: str
    seen: str
    device: str = ""
    constants: dict[str, bool | float | str] = {}  # noqa: RUF012 (msgspec copies it)
    dtypes: tuple[Literal["float64", "float32", "float16", "bfloat16"], ...] = ()
    mask: Literal["", "added", "hidden"] = ""
    grouped: str = ""
    causal: Literal["", "end", "square"] = ""
    gradient: bool = True


class Ran(msgspec.Struct, frozen=True):
    """An operator, as it was found: in which `dtypes` it is right, and in which it is `absent`.

    `absent`: dtype -> why; `partly`: dtype -> how many of its cases are not there, and why.
    `no_gradient`: why there is none, "" where it is right, too. `on_cpu`: the kernels of the CPU
    that answered in the device's place; none: its own did.
    """

    name: str
    operation: str
    dtypes: list[str]
    absent: dict[str, str]
    partly: dict[str, str]
    no_gradient: str
    on_cpu: list[str]


def rows(device: str) -> list[dict[str, object]]:
    """The operators to try on a device: Paddle's own and its plugin's, as JSON values."""
    known = tables(IMAGES / FILE, "operators", Operator)
    return [msgspec.to_builtins(one) for one in known if one.device in ("", device)]


def found(probes: Sequence[Ended]) -> list[Ran]:
    """What the probes told of operators, with what their logs tell of the CPU's kernels."""
    return [_ran(event, ended.fallback_in) for ended in probes for event in ended.events
            if event["event"] == "operator"]  # fmt: skip


def _ran(event: Mapping[str, object], fallback: Mapping[str, set[str]]) -> Ran:
    values = {name: event[name] for name in Ran.__struct_fields__ if name != "on_cpu"}
    label = f"{event['operation']}.{event['name']}"
    return msgspec.convert(values | {"on_cpu": sorted(fallback.get(label, ()))}, Ran)
