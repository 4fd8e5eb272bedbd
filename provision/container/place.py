"""One target's container as it is asked for: its image, its steps, and what it is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from provision.container import images
from provision.container.settings import Settings
from provision.engine import Options, sources
from provision.forms.dockerfile import base_of, split
from provision.forms.wanted import Wanted
from provision.journal import SMOKE
from provision.plan import Wish, ancestors
from provision.stack import Step
from provision.steps.built import Order, asked
from provision.vendor.remote import Remote


@dataclass(frozen=True)
class Place:
    """The container for a target. `named` is the name that was asked for, "" where none was."""

    options: Options
    wanted: Wanted
    named: str = ""

    @property
    def name(self) -> str:
        """The name of a new container."""
        return self.named or f"paddock-{self.wanted.stack.target}"

    @cached_property
    def image(self) -> images.Reference:
        """The image to start from. Raises PaddockError `no-base`, `image-record`."""
        return images.reference(base_of(self.wanted))

    @cached_property
    def orders(self) -> list[tuple[Step, Order]]:
        """What is to be built from sources, each with its step.

        Raises PaddockError `flags-apart`, `flag-needs`, `source-*`.
        """
        given = sources(self.options, self.wanted.stack)
        remote = Remote(offline=self.options.network.offline)
        context = replace(self.wanted.context, remote=remote)
        steps = [step for step in self._steps if step.flag in given and self._asked([step.name])]
        return [(step, asked(step, context, given[step.flag])) for step in steps]

    @property
    def unsourced(self) -> list[Step]:
        """The steps that build from sources where none are given: they hold or are left out."""
        given = dict(self.options.sources)
        return [step for step in self._steps if step.kind == "built" and step.flag not in given
                and self._asked([step.name])]  # fmt: skip

    @cached_property
    def inside(self) -> list[str]:
        """The steps for the container: those that an image is made with, and what is built from
        sources, with the compiler where there are some."""
        flags = dict(self.options.sources)
        needed = {name for step in self._steps if step.flag in flags for name in step.needs}
        wanted = {step.name for step in split(self.wanted)[0]}
        return self._asked(
            step.name for step in self._steps if step.name in wanted or step.kind == "built"
            or (step.kind == "toolchain" and step.name in needed)
        )  # fmt: skip

    @cached_property
    def outside(self) -> list[str]:
        """The steps for the host: to its driver, without which there are no cards to hand on."""
        loaded = [step.name for step in self.wanted.steps if step.kind == "loaded"]
        return self._asked(ancestors(self.wanted.context, loaded))

    @property
    def left(self) -> list[str]:
        """The steps whose work is in the image to start from."""
        names = self._asked(step.name for step in self._steps)
        return [name for name in names if name not in (*self.inside, *self.outside)]

    @property
    def proves(self) -> bool:
        """Whether the smoke tests follow."""
        asked = not self.options.only or SMOKE in self.options.only
        return asked and (self.wanted.folder / "smoke.toml").is_file()

    @property
    def asked(self) -> list[str]:
        """What Paddock in the container is asked for: its steps, and the proof of them all."""
        return [*self.inside, *([SMOKE] if self.proves else [])]

    def check(self) -> None:
        """Raises PaddockError `unknown-step`, and as `orders` does."""
        names = [step.name for step in self._steps]
        Wish(self.options.begin, self.options.only).check(names)
        list(self.orders)

    def settings(self, image: str = "", digest: str = "") -> Settings:
        """What the container is made of, once the image's ID and digest are known."""
        return Settings(self.wanted, image, digest, self.name, self.options.network, self.named)

    @property
    def _steps(self) -> list[Step]:
        return self.wanted.stack.steps

    def _asked(self, names: Iterable[str]) -> list[str]:
        only = self.options.only
        return [name for name in names if not only or name in only]
