"""What a text is rendered for: a target's stack, and what the person chose of the form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from provision.forms.places import Places
from provision.forms.volumes import Volume
from provision.render import quote
from provision.stack import Stack, Step
from provision.steps.base import Context

HOME = Path("/opt/paddock")
CACHE = Path("/var/cache/paddock")  # in a container that provision makes
MACHINES = ("x86_64", "aarch64")


@dataclass(frozen=True)
class Wanted:
    """A release of a stack in `folder`, and the choices.

    `base` is an image to start from in place of the stack's own, "" for that; `image` names the
    image that a container is made of; `cards` are the numbers of device nodes; `secrets` names
    what a build gets as secrets, see `dockerfile.SECRETS`. `classic` is for Docker's builder
    without BuildKit, `engine` the program that starts containers. `own` is the name of the stack's
    file where a person gave one, else "". `volumes` are what a container gets beside what its
    target needs.
    """

    stack: Stack
    folder: Path
    release: str
    home: Path = HOME
    machine: str = MACHINES[0]
    base: str = ""
    image: str = ""
    cards: tuple[int, ...] = (0,)
    classic: bool = False
    engine: str = "docker"
    syntax: str = ""
    privileged: bool = False
    secrets: tuple[str, ...] = ()
    own: str = ""
    volumes: tuple[Volume, ...] = ()

    def command(self, form: str) -> str:
        """The command that writes the same text: all that was not left at its default.

        A stack of the person's own is named without its folder, in which the command has to run:
        the text is the same wherever that folder is.
        """
        flags = {
            "stack": self.own, "base": self.base, "image": self.image, "syntax": self.syntax,
            "builder": "classic" if self.classic else self.engine.replace("docker", ""),
            "secrets": ",".join(self.secrets),
            "cards": "" if self.cards == (0,) else ",".join(map(str, self.cards)),
            "machine": "" if self.machine == MACHINES[0] else self.machine,
            "home": "" if self.home == HOME else str(self.home),
        }  # fmt: skip
        words = ["paddock", "render", "--target", self.stack.target, "--release", self.release]
        for name, value in flags.items():
            words += [f"--{name}", value] if value else []
        words += [word for one in self.volumes for word in ("--volume", str(one))]
        return quote([*words, *(["--privileged"] * self.privileged), "--as", form])

    @property
    def taken(self) -> list[str]:
        """The places in a container that are the tool's, or that the target gets anyway."""
        container = self.stack.container
        return [str(self.home), str(CACHE), *(container.mounts if container else [])]

    @property
    def steps(self) -> list[Step]:
        """The stack's steps, without those for which a person has to have sources."""
        return [step for step in self.stack.steps if step.kind != "built"]

    @property
    def places(self) -> Places:
        """Where things are."""
        return Places(self.stack.target, self.home)

    @property
    def context(self) -> Context:
        """What steps read, none of it from this machine."""
        return Context(
            self.stack, self.folder, self.release, self.places, None, _tag(self.python),
            arch=self.machine,
        )  # fmt: skip

    @property
    def python(self) -> str:
        """The Python to make the environment from, as uv is asked for one.

        Where a wheel of the vendor is for one version alone, that version.
        """
        pythons = self.stack.pythons(self.release)
        if not any(step.kind == "given" for step in self.stack.steps):
            return pythons
        below = re.search(r"<3\.(\d+)", pythons)
        return f"3.{int(below[1]) - 1}" if below else pythons


def _tag(python: str) -> str:
    """How the name of a wheel spells a Python such as `3.10`; "" for a range."""
    return f"cp{python.replace('.', '')}" if re.fullmatch(r"3\.\d+", python) else ""
