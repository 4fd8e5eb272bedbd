"""What the smoke tests demand of a target, read from `images/TARGET/smoke.toml`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from provision.document import Table, read

Level = Literal["device", "ops", "model"]
LEVELS: tuple[Level, ...] = ("device", "ops", "model")

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

    def limit(self, level: Level) -> float:
        """The limit of one level, in seconds."""
        return {"device": self.device, "ops": self.ops, "model": self.model}[level]


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


class Smoke(Table, frozen=True):
    """The smoke tests' limits and expectations for one target."""

    schema: Literal[1]
    target: str
    device: str
    levels: tuple[Level, ...]
    silence: Silence
    tolerance: Tolerances
    model: Model
    ops_module: str = ""
    """The Python module of its fused operators; "" where it has none."""
    counted: bool = False
    """Whether its plugin tells what it has counted, and so has to confirm each run."""

    def spec(self) -> dict[str, object]:
        """What a probe needs of this, as JSON values."""
        known = msgspec.to_builtins(self.tolerance)
        tolerance = {name: both for name, both in known.items() if name not in ("source", "seen")}
        model = msgspec.to_builtins(self.model)
        return {"tolerance": tolerance, "model": model, "ops_module": self.ops_module,
                "counted": self.counted}  # fmt: skip


def settings_of(folder: Path) -> Smoke:
    """The settings in a target's folder. Raises PaddockError as `read` does."""
    return read(folder / "smoke.toml", Smoke, Silence, Tolerances, Model)
