"""What one log was seen to hold: figures, results, and the lines that tell how a run went."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from checks.judge.numbers import clock, first_clock
from checks.judge.series import Series
from checks.logs.telling import Spot

MANY = 64  # of any kind of line that are kept; a log can repeat one for ever


class Result(NamedTuple):
    """The figures of an evaluation's result line, as printed."""

    loss: str
    ppl: str
    adjusted: str
    ratio: str


class Memory(msgspec.Struct, frozen=True):
    """A card's memory that ran out; sizes as printed, "" for what the log does not tell."""

    spot: Spot
    step: int | None
    size: str = ""
    device: str = ""
    total: str = ""
    allocated: str = ""
    free: str = ""
    operator: str = ""
    tensor: str = ""
    rank: str = ""


class Broken(msgspec.Struct, frozen=True):
    """A line of a check for NaN and Inf: the operator, the tensor and the layer, "" if not told."""

    spot: Spot
    step: int | None
    operator: str = ""
    tensor: str = ""
    layer: str = ""


@dataclass
class Seen:
    """One log. `proofs` and `ends`: for each device the first line that shows it.

    `passes`: for each fusion pass that ran how many places it changed, None where that is not told.
    `stride`: steps from one line of figures to the next; `sampled`: not all of them were read.
    `outputs`: how many characters each sample answer has. `head` and `tail` are its outer bytes.
    """

    evals: Series = field(default_factory=Series)
    train: Series = field(default_factory=Series)
    cloze: Spot | None = None
    results: dict[Result, Spot] = field(default_factory=dict)
    result_begun: Spot | None = None
    tokens: tuple[int, int] | None = None
    total: int | None = None
    stride: int = 0
    sampled: bool = False
    ended: Spot | None = None
    proofs: dict[str, Spot] = field(default_factory=dict)
    ends: dict[str, Spot] = field(default_factory=dict)
    skipped: Spot | None = None
    fallback: int = 0
    passes: dict[str, int | None] = field(default_factory=dict)
    outputs: list[int] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    autofused: dict[str, Spot] = field(default_factory=dict)
    graph_engine: Spot | None = None
    present: set[str] = field(default_factory=set)
    absent: dict[str, Spot] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    traceback: Spot | None = None
    traceback_time: float | None = None
    head: bytes = b""
    tail: bytes = b""

    @property
    def begin(self) -> float | None:
        """The first time in the log, in seconds within the year."""
        return first_clock(self.head)

    @property
    def end(self) -> float | None:
        """The last one."""
        return clock(self.tail)

    @property
    def step(self) -> int | None:
        """The step that was reached by now."""
        last = self.train.last or self.evals.last
        return last.step if last else None
