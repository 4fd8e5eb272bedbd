"""One target's container as it is asked for: its image, its steps, and what it is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from provision.container import images
from provision.container.settings import Settings
from provision.engine import Options
from provision.forms.dockerfile import base_of, split
from provision.forms.wanted import Wanted
from provision.plan import Wish, ancestors


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
    def inside(self) -> list[str]:
        """The steps for the container, those that an image is made with."""
        return self._asked(step.name for step in split(self.wanted)[0])

    @cached_property
    def outside(self) -> list[str]:
        """The steps for the host: to its driver, without which there are no cards to hand on."""
        loaded = [step.name for step in self.wanted.steps if step.kind == "loaded"]
        return self._asked(ancestors(self.wanted.context, loaded))

    @property
    def left(self) -> list[str]:
        """The steps whose work is in the image to start from."""
        names = self._asked(step.name for step in self.wanted.steps)
        return [name for name in names if name not in (*self.inside, *self.outside)]

    @property
    def proves(self) -> bool:
        """Whether the smoke tests follow."""
        return not self.options.only and (self.wanted.folder / "smoke.toml").is_file()

    def check(self) -> None:
        """Raises PaddockError `unknown-step`."""
        names = [step.name for step in self.wanted.steps]
        Wish(self.options.begin, self.options.only).check(names)

    def settings(self, image: str = "", digest: str = "") -> Settings:
        """What the container is made of, once the image's ID and digest are known."""
        return Settings(self.wanted, image, digest, self.name, self.options.network, self.named)

    def _asked(self, names: Iterable[str]) -> list[str]:
        only = self.options.only
        return [name for name in names if not only or name in only]
