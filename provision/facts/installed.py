"""An environment's interpreter and distributions, against the lock; nothing is imported."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from provision.distributions import installed, pins, tags
from provision.facts import oddities
from provision.facts.command import run
from provision.site import Site
from provision.stack import Layer

LAYERS: tuple[Layer, ...] = ("framework", "build", "paddlenlp", "model")
_LIMIT = 20.0  # seconds
_ASK = "import sys; print('%d.%d.%d' % sys.version_info[:3])"


class Environment(msgspec.Struct, frozen=True):
    """A Python environment. `version` is None when its interpreter does not answer.

    `site_packages` is "" when it has no such folder yet; of several it is the one with Paddle, else
    the first. `wheels` are the tags of each distribution's wheel. Of one that Paddock did not make
    it is also told which `kind` it is, all such `folders` in their order, `program`, the file that
    really runs, and `cxx`, the compiler that builds extensions for it, "" when unknown.
    `own`: Paddock made it, so it is to be as its lock says.
    """

    python: str
    version: str | None
    problem: str
    packages: dict[str, str]
    site_packages: str = ""
    kind: Literal["venv", "conda", "system", ""] = ""
    prefix: str = ""
    folders: list[str] = []
    wheels: dict[str, list[str]] = {}
    oddities: list[oddities.Oddity] = []
    program: str = ""
    cxx: str = ""
    own: bool = True


class Difference(msgspec.Struct, frozen=True):
    """A package that is not as locked; `found` is None when it is not installed."""

    layer: Layer
    name: str
    wanted: str
    found: str | None


class Comparison(msgspec.Struct, frozen=True):
    """The environment against the release whose lock is nearest to it."""

    release: str
    locked: int
    differences: list[Difference]


def environment(site: Site) -> Environment | None:
    """The environment of a target; None while there is none.

    Its interpreter is started with `-I -S`, so that no package of it can spoil the answer.
    """
    if not site.env.exists():
        return None
    folder = site.site_packages
    version, problem = _answer(site.python)
    if folder is None:
        return Environment(str(site.python), version, problem, {})
    return Environment(
        str(site.python), version, problem, dict(installed(folder).keys()), str(folder),
        wheels=tags(folder), oddities=oddities.find([folder]),
    )  # fmt: skip


def _answer(python: Path) -> tuple[str | None, str]:
    """The full version that an interpreter answers with, or None and what it said instead."""
    try:
        answer = run([python, "-I", "-S", "-c", _ASK], _LIMIT)
    except OSError as error:
        return None, f"{python}: {error.strerror}"
    if answer.status == 0 and answer.out.strip():
        return answer.out.strip(), ""
    return None, next(iter(answer.lines), f"exit status {answer.status}")


def compare(env: Environment, locks: Path, default: str) -> Comparison | None:
    """The environment against the nearest of the releases locked in this folder.

    None when there is no lock. `default` wins between releases that are equally near.
    """
    folders = sorted(locks.glob("*/"), key=lambda folder: folder.name != default)
    made = [_compared(env, folder) for folder in folders if (folder / "framework.txt").is_file()]
    return min(made, key=lambda made: len(made.differences), default=None)


def _compared(env: Environment, folder: Path) -> Comparison:
    """The environment against the lock of one release."""
    locked = [
        (layer, name, version)
        for layer in LAYERS
        for name, version in pins(_text(folder / f"{layer}.txt"), env.version or "").items()
    ]
    differences = [
        Difference(layer, name, version, env.packages.get(name))
        for layer, name, version in locked
        if not _same(env.packages.get(name), version)
    ]
    return Comparison(folder.name, len(locked), differences)


def _same(found: str | None, wanted: str) -> bool:
    """Whether two versions are equal, also when they are spelled differently (1.0, 1.0.0)."""
    if found is None or found == wanted:
        return found == wanted
    from packaging.version import InvalidVersion, Version

    try:
        return Version(found) == Version(wanted)
    except InvalidVersion:
        return False


def _text(path: Path) -> str:
    """A lock of one layer; "" when the release has none."""
    return path.read_text(encoding="utf-8") if path.is_file() else ""
