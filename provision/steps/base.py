"""What every kind of step has in common."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from provision.errors import PaddockError
from provision.lock import lock_file
from provision.site import Site
from provision.stack import Layer, Stack, Step
from provision.vendor.remote import Remote


class Sources(NamedTuple):
    """What a person gives to build from: a folder, archive or address, and a ref, "" for none."""

    origin: str
    ref: str = ""


@dataclass(frozen=True)
class Context:
    """One target on this machine: what steps read.

    `folder` holds the target's data, `interpreter` is the Python the environment is made from,
    `tag` that Python in the name of a wheel, such as `cp310`. `deps` is the folder with vendors'
    packages, `remote` where others can be downloaded from; with `any_system` it does not matter
    which system this is. `sources` are what is to be built, by the flags they are given with.
    """

    stack: Stack
    folder: Path
    release: str
    site: Site
    interpreter: Path | None
    tag: str = ""
    deps: Path | None = None
    any_system: bool = False
    arch: str = field(default_factory=lambda: os.uname().machine)
    remote: Remote = field(default_factory=Remote)
    sources: Mapping[str, Sources] = field(default_factory=dict)
    orders: dict[str, Any] = field(default_factory=dict, compare=False)
    """What `built` has looked up, by step: once for all that a plan asks of it."""

    def lock(self, layer: Layer) -> Path:
        """The lock file of a layer of this release."""
        return lock_file(self.folder, self.release, layer)

    def step(self, name: str) -> Step:
        """The step of that name."""
        return next(step for step in self.stack.steps if step.name == name)


class NotSo(Exception):
    """A verification failed; the argument says what is missing."""


class Lack(NamedTuple):
    """Why a step cannot run here: the error's code, and what to type or to get, in a few words.

    With `later` the steps that do not need this one go on before the error is told; `details` are
    its lines then.
    """

    code: str
    remedy: str
    later: bool = False
    details: tuple[str, ...] = ()


class Kind(ABC):
    """How steps of one kind become commands, and how to see that they hold."""

    template: str
    """The script, below `templates/`."""
    clears = False
    """Whether running it removes what the steps that need it have made."""
    by_machine = False
    """Whether it holds when the machine is so, whoever has done it."""
    leaves_halves = False
    """Whether a run that failed may have left what looks whole and is not.

    Such a step is never cut short since another fails.
    """
    follows = False
    """Whether it has to be seen again whenever a step that it needs has run."""
    can_wait = False
    """Whether what does not need it goes on when it has failed."""
    unverified = "step-unverified"
    """The error code for a script that ends well and has not done it."""

    @property
    def changes_host(self) -> str:
        """What it does to the system outside the user's own folders; "" for nothing."""
        return ""

    def change(self, step: Step, context: Context) -> str:
        """The same of one step, in short."""
        return self.changes_host

    @abstractmethod
    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """What the template prints."""

    def inputs(self, step: Step, context: Context) -> Iterable[Path]:
        """Files whose content decides the result."""
        return ()

    def variables(self, step: Step, context: Context) -> Mapping[str, str]:
        """What its script gets in its environment beside, and nobody else: secrets."""
        return {}

    def identity(self, step: Step, context: Context, script: str) -> str:
        """What of its script decides the result."""
        return script

    @abstractmethod
    def verify(self, step: Step, context: Context) -> list[Path]:
        """The files that show the step holds. Raises NotSo."""

    def skips(self, step: Step, context: Context) -> str:
        """Why this stack does without the step; "" where it is wanted."""
        return ""

    def blocked(self, step: Step, context: Context) -> Lack | None:
        """Why the step cannot run here; None where it can."""
        return None

    def failure(self, step: Step, context: Context) -> PaddockError | None:
        """What its script, which has failed, has told of it in a document; None for nothing."""
        return None

    def quiet(self, step: Step, context: Context) -> float:
        """After how many seconds without output a person is told so; 0 for never."""
        return 0.0

    def asks(self, step: Step, context: Context) -> str:
        """What holds otherwise than wanted, so that the person has to agree; "" for nothing."""
        return ""

    def newer(self, step: Step, context: Context) -> str:
        """The version that is there and that running the step would turn back; "" for none.

        Nothing that a person asks of the plan turns it back.
        """
        return ""

    def removing(self, step: Step, context: Context) -> str:
        """What removes the version that is there, for whoever wants the pinned one all the same."""
        return ""

    def note(self, step: Step, context: Context) -> str:
        """What a person should know about a step that will run; "" for nothing."""
        return ""


class Look(Kind):
    """A kind that only looks at the machine: what it asks for is there or not. It runs nothing."""

    template = "steps/nothing.sh.j2"
    by_machine = True

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """Nothing."""
        return {}
