"""What the smoke tests demand of a target, read from `images/TARGET/smoke.toml`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from checks.judge.levels import Training
from provision.document import Table, read

Level = Literal["device", "ops", "model", "train", "deploy", "perf"]
LEVELS: tuple[Level, ...] = ("device", "ops", "model", "train", "deploy", "perf")

Sha256 = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
Share = Annotated[float, msgspec.Meta(gt=0, lt=1)]
Tolerance = tuple[
    Annotated[float, msgspec.Meta(ge=0, lt=1)], Annotated[float, msgspec.Meta(ge=0, lt=1)]
]


class Silence(Table, frozen=True):
    """For each level, after how many seconds without news a probe is cut."""

    device: Seconds
    ops: Seconds
    model: Seconds
    source: str
    seen: str
    train: Seconds | None = None
    deploy: Seconds | None = None
    perf: Seconds | None = None

    def limit(self, level: Level) -> float:
        """The limit of one level of the target, in seconds."""
        found: float = getattr(self, level)
        return found


class Tolerances(Table, frozen=True):
    """For each dtype the relative and the absolute difference allowed."""

    float64: Tolerance
    float32: Tolerance
    float16: Tolerance
    bfloat16: Tolerance
    source: str
    seen: str


class Model(Table, frozen=True):
    """The model of level `model`: its pinned inputs, and what must come out."""

    package: str
    weights: str
    weights_sha256: Sha256
    text: str
    text_sha256: Sha256
    tokens: Annotated[int, msgspec.Meta(ge=2)]
    window: Annotated[int, msgspec.Meta(ge=2)]
    ids_sha256: Sha256
    perplexity: Annotated[float, msgspec.Meta(ge=1)]
    reference_tolerance: Share
    agreement: Share
    source: str
    seen: str


class Train(Table, frozen=True):
    """The training of level `train`. `agreement` is the relative difference of losses allowed.

    `falls` is the rule of `checks/judge/training.py`; `alone` says why one process trains, not two.
    """

    steps: Annotated[int, msgspec.Meta(ge=4)]
    learning_rate: Share
    agreement: Share
    alone: str
    falls: Training
    source: str
    seen: str


class Deploy(Table, frozen=True):
    """Where the exported graph of level `deploy` is run; `reason` says why not on the device."""

    on_device: bool
    source: str
    seen: str
    reason: str = ""

    def __post_init__(self) -> None:
        if self.on_device is bool(self.reason):
            raise ValueError("`reason` belongs to `on_device = false`, and to nothing else")


class Range(Table, frozen=True):
    """Between which values a figure has to be, both included."""

    figure: str
    low: float
    high: float
    source: str
    seen: str


class Perf(Table, frozen=True):
    """What level `perf` measures with: tokens of the prompt, prompts, tokens of the answer."""

    prompt: Annotated[int, msgspec.Meta(ge=2)]
    repeats: Annotated[int, msgspec.Meta(ge=3)]
    tokens: Annotated[int, msgspec.Meta(ge=3)]
    source: str
    seen: str
    ranges: tuple[Range, ...] = ()


Count = Annotated[int, msgspec.Meta(ge=1)]


class Normal(Table, frozen=True):
    """The milliseconds that are said to be normal on a card, and above which something is wrong."""

    figure: str
    low: float
    high: float
    suspicious: float
    source: str
    seen: str

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.high <= self.suspicious:
            raise ValueError("`low`, `high` and `suspicious` have to be in this order")


class Latency(Table, frozen=True):
    """How level `ops` measures the fused operators: calls before and while it does, and sizes.

    `inner` is the width within the feed-forward part. `normal` is judged on a card only.
    """

    warm_up: Count
    repeats: Annotated[int, msgspec.Meta(ge=3)]
    tokens: Count
    heads: Count
    kv_heads: Count
    size: Count
    inner: Count
    dtype: Literal["float32", "float16", "bfloat16"]
    source: str
    seen: str
    normal: tuple[Normal, ...] = ()


class Smoke(Table, frozen=True):
    """The smoke tests' limits and expectations for one target."""

    schema: Literal[1]
    target: str
    device: str
    levels: tuple[Level, ...]
    silence: Silence
    tolerance: Tolerances
    model: Model
    train: Train | None = None
    deploy: Deploy | None = None
    perf: Perf | None = None
    latency: Latency | None = None
    proof: tuple[Level, ...] = ()
    """The levels that prove a new stack; all of them where none is named."""
    torch_names: bool = False
    """Whether level `ops` asks for the names of torch_npu, where it is installed beside Paddle."""
    ops_module: str = ""
    """The Python module of its fused operators; "" where it has none."""
    counted: bool = False
    """Whether its plugin tells what it has counted, and so has to confirm each run."""

    def __post_init__(self) -> None:
        if strange := [one for one in self.proof if one not in self.levels]:
            raise ValueError(f"`proof` names `{strange[0]}`, which is not in `levels`")
        for level in self.levels:
            for table, part in (("$", self), ("silence", self.silence)):
                if getattr(part, level, True) is None:
                    raise ValueError(f"level `{level}` needs a `{level}` in `{table}`")

    def spec(self) -> dict[str, object]:
        """What a probe needs of this, as JSON values."""
        known = msgspec.to_builtins(self.tolerance)
        tolerance = {name: both for name, both in known.items() if name not in ("source", "seen")}
        parts = ("model", "train", "deploy", "perf", "latency")
        return {"tolerance": tolerance, "ops_module": self.ops_module, "counted": self.counted,
                **{name: msgspec.to_builtins(getattr(self, name)) for name in parts}}  # fmt: skip


_PARTS = (Silence, Tolerances, Model, Train, Training, Deploy, Perf, Range, Latency, Normal)


def settings_of(folder: Path) -> Smoke:
    """The settings in a target's folder. Raises PaddockError as `read` does."""
    return read(folder / "smoke.toml", Smoke, *_PARTS)
