"""What the flags of `build-ops` ask for, and the build that it becomes on this machine."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from provision.digest import sha256
from provision.engine import Options
from provision.errors import PaddockError
from provision.network import Network
from provision.site import Site
from provision.wheels import archive, modules, paddle, places, python, source
from provision.wheels.places import PLACES
from provision.wheels.recipe import Recipe, load, names
from provision.wheels.work import Work
from provision.words import text

_RELEASE = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.(post|dev)\d+)?(\+[a-z0-9.]+)?")
_PYTHON = re.compile(r"3\.\d{1,2}|.*/.*")


@dataclass(frozen=True)
class Order:
    """A build as it was asked for. `place` is one of PLACES; `jobs` None: as many as fit.

    `why` is what a person should know about the place, "" for nothing; `image` is that of the
    container, "" for the one that goes with the sources.
    """

    backend: str
    source: str = ""
    ref: str = ""
    python: str = ""
    paddle: str = ""
    place: str = "venv"
    jobs: int | None = None
    network: Network = field(default_factory=Network)
    why: str = ""
    image: str = ""

    @property
    def site(self) -> Site:
        """Where the state of this backend's builds is."""
        return Site(self.backend)

    def checked(self) -> Order:
        """The same. Raises PaddockError `bad-option` for values that nothing can come of, and
        `build-machine` where the backend exists for other processors.
        """
        for option, value, pattern, wanted in (
            ("--paddle", self.paddle, _RELEASE, "wanted.release"),
            ("--python", self.python, _PYTHON, "wanted.python"),
            ("--in", self.place, re.compile("|".join(PLACES)), "wanted.place"),
        ):
            if value and not pattern.fullmatch(value):
                raise PaddockError("bad-option", option=option, value=value, wanted=text(wanted))
        machine, machines = os.uname().machine, load(self.backend).machines
        if machine not in machines:
            raise PaddockError("build-machine", backend=self.backend, machine=machine,
                               machines=", ".join(machines))  # fmt: skip
        return self


def work(order: Order, known: source.Source | None = None) -> Work:
    """The build on this machine; nothing was changed yet. `known` are its sources, found before.

    Raises PaddockError `unknown-backend`, `no-python`, `source-*`.
    """
    recipe = load(order.backend)
    chosen = python.choose(recipe, order.python, order.paddle, host=order.place == "host")
    if order.place == "host" and recipe.paddle:
        chosen = _with_its_paddle(chosen, order.paddle)
    found = known or source.find(recipe, order.source, order.ref, order.network)
    made = Work(recipe, found, chosen, os.uname().machine, _root(found))
    modules.refuse_changed(found, recipe, made.known)
    return made


def _with_its_paddle(chosen: python.Python, asked: str) -> python.Python:
    """On the host the wheel is for the Paddle that is there; preflight tells of another one."""
    found = python.facts(chosen.interpreter)
    listed = paddle.record(Path(found.paddle), found.release) if found.paddle else None
    files = sha256(listed) if listed else ""
    packing = f"setuptools {found.setuptools}, wheel {found.wheel}"
    return msgspec.structs.replace(chosen, paddle=asked or found.release, files=files,
                                   packing=packing)  # fmt: skip


def _root(found: source.Source) -> Path:
    """The top folder, as far as it is known before an archive was unpacked."""
    if found.kind == "archive" and found.root.is_dir():
        return archive.top(found.root)
    return found.root


def _releases(recipe: Recipe, own: dict[str, str]) -> list[str]:
    """The releases for a matrix: those asked for, else those that the recipe lists for the ref.

    Raises PaddockError `flag-needs` where it lists none.
    """
    if own["paddle"]:
        return own["paddle"].split(",")
    ref = own["ref"] or recipe.ref
    pair = recipe.pair(ref)
    if pair is None:
        raise PaddockError("flag-needs", one=f"--matrix --ref {ref}", other="--paddle")
    return pair.paddle


def orders(
    backend: str | None, own: dict[str, str], chosen: Options, *, is_counted: bool, matrix: bool
) -> list[Order]:
    """The flags as orders, one a release of Paddle; [] for a target that has no recipe.

    Raises PaddockError `flags-apart`, `flag-needs`, `bad-option`.
    """
    given = [f"--{name}" for name, value in own.items() if value] + ["--matrix"] * matrix
    if backend is None:
        if given:
            raise PaddockError("flag-needs", one=given[0], other=f"--backend {'|'.join(names())}")
        return []
    if chosen.release:
        raise PaddockError("flags-apart", one="--release", other=f"--backend {backend}")
    place = places.choose(load(backend), own["in"], own["image"], own["python"])
    if own["image"] and place.name != "container":
        raise PaddockError("flag-needs", one="--image", other="--in container")
    releases = _releases(load(backend), own) if matrix else [own["paddle"]]
    asked = chosen.jobs if is_counted else None
    return [
        Order(backend, own["source"], own["ref"], own["python"], one.strip(), place.name, asked,
              chosen.network, place.why, own["image"]).checked()
        for one in releases
    ]  # fmt: skip
