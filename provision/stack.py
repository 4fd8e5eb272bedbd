"""A target's pins and steps as types, read from `images/TARGET/stack.toml`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from provision.document import Table, read
from provision.errors import unknown_name
from provision.paths import IMAGES, targets
from provision.stack_names import check
from provision.vendor.rows import Package, Place, Word

# Everything here may end in a command line, so the alphabet is closed: a value with a space, a
# quote, `$(` or a newline is refused when the file is read. `\Z`, since `$` admits a newline.
Name = Annotated[str, msgspec.Meta(pattern=r"\A[a-z0-9][a-z0-9_-]*\Z")]
StepName = Annotated[str, msgspec.Meta(pattern=r"\A[a-z0-9][a-z0-9_-]*/[a-z0-9][a-z0-9_-]*\Z")]
Requirement = Annotated[
    str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._-]*(\[[a-z,-]+\])?[A-Za-z0-9.,<>=!~*+]*\Z")
]
_RANGE = r"(?:[<>]=?\d+(?:\.\d+)*|[=!]=\d+(?:\.\d+)*(?:\.\*)?|~=\d+(?:\.\d+)+)"
Specifier = Annotated[str, msgspec.Meta(pattern=rf"\A{_RANGE}(?:,{_RANGE})*\Z")]
Reference = Annotated[str, msgspec.Meta(pattern=r"\A[a-z0-9][A-Za-z0-9._:/@{}-]*\Z")]
ResourceName = Annotated[str, msgspec.Meta(pattern=r"\A([a-z0-9.-]+/[A-Za-z0-9._-]+)?\Z")]
Layer = Literal["build", "framework", "paddlenlp", "model", "data"]
Kind = Literal[
    "toolchain", "venv", "packages", "wheel", "install",
    "card", "system", "account", "vendor", "debs", "given", "loaded",
    "fetch", "built",
]  # fmt: skip


class Release(Table, frozen=True):
    """One named set of versions that go together, and where that is known from.

    `pins` are versions of what no package index has, by name: "driver", "cann", "tops", "plugin".
    `tried` says where all of its steps, or for `lab` those of the host, have run; `defects` are
    names of the sentences `defect.NAME`, and `unlocked` is that of the one that says why it has no
    lock. `python` is narrower than the stack's where the wheels of the vendor are for fewer
    Pythons. `plugin_ref` is the tag or commit of the plugin's sources.
    """

    framework: list[Requirement]
    paddlenlp: list[Requirement]
    source: str
    seen: str
    pins: dict[Name, str] = msgspec.field(default_factory=dict)
    python: Specifier | None = None
    plugin_ref: Word = ""
    tried: Literal["no", "lab", "machine", "hardware"] = "no"
    defects: list[Name] = msgspec.field(default_factory=list)
    unlocked: Name | None = None


class Container(Table, frozen=True):
    """What a container needs of the host to use the cards.

    `devices` are device nodes, `*` standing for a card's number; `mounts` are paths of the host
    that it sees at the same place, files but for those that are `folders` too; one that some hosts
    have `elsewhere` is taken from there. /dev/shm is made with `shm` bytes; with fewer than
    `least_shm` a container is told to have too few.
    """

    devices: list[str]
    mounts: list[str]
    shm: int
    least_shm: int
    source: str
    seen: str
    folders: list[str] = msgspec.field(default_factory=list)
    elsewhere: dict[str, str] = msgspec.field(default_factory=dict)
    runtime: str = ""
    resource: ResourceName = ""
    """What a cluster's device plugin calls a card."""


class Image(Table, frozen=True):
    """What an image of the target is made from.

    `bases` are the images to start from, by release, `{machine}` standing for the processor, or one
    for each processor where their names differ in more; what a vendor needs below Paddle is in
    them, but not in those of `bare` nor, for all that is known, in another one: there the steps of
    `stack` are done too. `packages` are those of the system that the result needs. It runs as
    `user`; where that is None, as root, and `root` says why.
    """

    bases: dict[str, Reference | dict[Word, Reference]]
    source: str
    seen: str
    bare: dict[str, Reference] = msgspec.field(default_factory=dict)
    stack: list[StepName] = msgspec.field(default_factory=list)
    packages: list[Name] = msgspec.field(default_factory=list)
    user: Name | None = None
    root: str = ""

    def base(self, release: str, machine: str) -> str:
        """The image to start from on a processor; "" where none is known."""
        known = self.bases.get(release) or self.bare.get(release, "")
        known = known if isinstance(known, str) else known.get(machine, "")
        return known.replace("{machine}", machine)


class Step(Table, frozen=True):
    """One step as data: its kind says how, these fields say what."""

    name: StepName
    kind: Kind
    needs: tuple[StepName, ...] = ()
    after: tuple[StepName, ...] = ()
    """What it does not need, but has to wait for where that has to run too."""
    lock: Layer | None = None
    source: Name | None = None
    recipe: Name | None = None
    flag: Word = ""
    """With it a person gives the sources of a recipe; without it the step is skipped."""
    wheels: tuple[StepName, ...] = ()
    package: Name | None = None
    debs: tuple[Name, ...] = ()
    told_by: Name | None = None
    """The Debian package with the version of all of them, which the pin of `package` wants."""
    account: Word = ""
    modules: tuple[Word, ...] = ()
    upgrade_before: StepName | None = None
    """Where that step's package is installed in an older version, this step comes before it."""


class Stack(Table, frozen=True):
    """What "provisioned" means for one target."""

    schema: Literal[1]
    target: Name
    device: Name
    python: Specifier
    default_release: str
    data: list[Requirement]
    requirements: dict[Literal["build", "model"], list[Requirement]]
    releases: dict[Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9._-]+\Z")], Release]
    steps: list[Step]
    default_because: Name | None = None
    """Why that release: the sentence `default.NAME`."""
    container: Container | None = None
    image: Image | None = None
    machines: list[Word] = msgspec.field(default_factory=list)
    """The processors that the vendor's packages are for, as the kernel calls them; none: any."""
    settings: list[Place] = msgspec.field(default_factory=list)
    """Scripts of the vendor that a shell has to source before Paddle starts in it, if they are
    there: a release may do without one."""
    packages: dict[Name, Package] = msgspec.field(default_factory=dict)

    def release(self, name: str | None) -> str:
        """The name of a release that exists; the default for None.

        Raises PaddockError `unknown-release`.
        """
        wanted = name or self.default_release
        if wanted not in self.releases:
            raise unknown_name("unknown-release", wanted, list(self.releases))
        return wanted

    def pythons(self, release: str) -> str:
        """The Pythons that a release is for."""
        return self.releases[release].python or self.python

    def layers(self, release: str) -> dict[Layer, list[str]]:
        """The requirements of each layer with dependencies, in the order of locking."""
        chosen = self.releases[release]
        return {
            "framework": chosen.framework,
            "build": self.requirements["build"],
            "model": self.requirements["model"],
            "paddlenlp": chosen.paddlenlp,
        }


def stack_file(target: str) -> Path:
    """The stack file of a target. Raises PaddockError `unknown-target`."""
    if target not in targets():
        raise unknown_name("unknown-target", target, ["auto", *targets()])
    return IMAGES / target / "stack.toml"


def load(path: Path) -> Stack:
    """Read and check a stack file.

    Raises PaddockError `stack-missing`, `stack-syntax`, `stack-field` (with the field's path and
    the nearest name) or `stack-type`.
    """
    stack = read(path, Stack, Release, Step, Container, Image, Package)
    check(path, stack)
    return stack
