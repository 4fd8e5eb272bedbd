"""How a target is verified by a model: `images/TARGET/levels.toml` as types."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from checks.logs.catalogue import Texts
from provision.document import Table, read
from provision.paths import IMAGES, targets

Level = Literal["model", "train", "deploy"]
FILE = "levels.toml"

Positive = Annotated[float, msgspec.Meta(gt=0)]
Share = Annotated[float, msgspec.Meta(gt=0, lt=0.5)]
Count = Annotated[int, msgspec.Meta(ge=1)]


class Proof(Table, frozen=True):
    """Lines (regular expressions) that only the device's plugin writes.

    `end` is the one that it writes last, "" where it writes none.
    """

    lines: list[str]
    source: str
    seen: str
    end: str = ""


class Perplexity(Table, frozen=True):
    """What an evaluation must come to: `tolerance` is relative to `expected`.

    `tokens` and `words` are what the program counts in its data; `window` is how many tokens it
    goes on from one sequence to the next.
    """

    expected: Positive
    tolerance: Share
    tokens: Count
    words: Count
    window: Count
    source: str
    seen: str


class Training(Table, frozen=True):
    """When a loss falls; the file's comment states the rule."""

    share: Share
    flat: Share
    least: Count
    source: str
    seen: str


class Deploy(Table, frozen=True):
    """The fusion passes that have to run, and the exported files: one of each row."""

    passes: list[str]
    files: list[list[str]]
    source: str
    seen: str


class Speed(Table, frozen=True):
    """The lowest speed that a level, or one recipe of it, is said to have."""

    level: Level
    unit: str
    low: Positive
    source: str
    seen: str
    recipe: str = ""


class Difference(Table, frozen=True):
    """What an article says, what is done here, and why."""

    article: str
    here: str
    why: Texts


class Recipe(Table, frozen=True):
    """One program of a level.

    `folder` lies in a PaddleNLP checkout, all other paths are relative to it. `setup`: of each row
    the first shell file that exists is sourced. `arguments` in order; "" for a flag without value;
    `{cards}` and `{max_steps}` are filled in; `defaults` are what the program takes without them.
    `launcher`: a process for each card. Until the first step `first_minutes`, later
    `silent_minutes` may pass without progress. `model` (of `images/models.toml`) stands for one
    that is no folder here; what is `saved` of it tells the disk. `exported`: where it writes.
    """

    name: str
    level: Level
    folder: str
    program: str
    python_path: str
    environment: dict[str, str]
    arguments: dict[str, str]
    first_minutes: Positive
    silent_minutes: Positive
    source: str
    seen: str
    setup: Sequence[Sequence[str]] = ()
    launcher: bool = False
    log_dir: str = ""
    needs: Sequence[str] = ()
    cards: Count = 1
    max_steps: int = 0
    model: str = ""
    defaults: dict[str, str] = msgspec.field(default_factory=dict)
    saved: Literal["", "whole", "adapter"] = ""
    exported: str = ""
    differences: Sequence[Difference] = ()


class Levels(Table, frozen=True):
    """The whole of a `levels.toml`."""

    schema: Literal[1]
    target: str
    device: str
    proof: Proof
    recipes: list[Recipe]
    speed: Sequence[Speed] = ()
    perplexity: Perplexity | None = None
    training: Training | None = None
    deploy: Deploy | None = None

    def of(self, level: str) -> list[Recipe]:
        """The recipes of a level, in their order."""
        return [one for one in self.recipes if one.level == level]


_PARTS = (Proof, Perplexity, Training, Deploy, Speed, Difference, Recipe)


@functools.cache
def levels(target: str) -> Levels | None:
    """The levels of a target; None for one that has none. Raises PaddockError as `read` does."""
    path = IMAGES / target / FILE
    return read(path, Levels, *_PARTS) if path.exists() else None


@functools.cache
def all_levels() -> dict[str, Levels]:
    """All targets that have levels."""
    return {name: found for name in targets() if (found := levels(name))}
