"""What every kind of step has in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from provision.lock import lock_file
from provision.site import Site
from provision.stack import Layer, Stack, Step


@dataclass(frozen=True)
class Context:
    """One target on this machine: what steps read.

    `folder` holds the target's data, `interpreter` is the Python the environment is made from.
    """

    stack: Stack
    folder: Path
    release: str
    site: Site
    interpreter: Path | None

    def lock(self, layer: Layer) -> Path:
        """The lock file of a layer of this release."""
        return lock_file(self.folder, self.release, layer)

    def step(self, name: str) -> Step:
        """The step of that name."""
        return next(step for step in self.stack.steps if step.name == name)


class NotSo(Exception):
    """A verification failed; the argument says what is missing."""


class Kind(Protocol):
    """How steps of one kind become commands, and how to see that they hold."""

    template: str
    """The script, below `templates/`."""
    clears: bool
    """Whether running it removes what the steps that need it have made."""

    lacks: str
    """The error code for what it lacks where it is blocked."""

    @property
    def changes_host(self) -> str:
        """What it does to the system outside the user's own folders; "" for nothing."""

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """What the template prints."""

    def inputs(self, step: Step, context: Context) -> Iterable[Path]:
        """Files whose content decides the result."""

    def verify(self, step: Step, context: Context) -> list[Path]:
        """The files that show the step holds. Raises NotSo."""

    def blocked(self, step: Step, context: Context) -> str | None:
        """A remedy to type first, where the step cannot run here; else None."""
