"""Where things live: the project's data, and the user's cache, state and environments."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "images"
TEMPLATES = ROOT / "templates"

_XDG = {
    "cache": ("XDG_CACHE_HOME", ".cache"),
    "state": ("XDG_STATE_HOME", ".local/state"),
    "data": ("XDG_DATA_HOME", ".local/share"),
}


def at_home(path: str) -> str:
    """A path whose `~` or `~user` stands for a home; as it is, like in a shell, without such a
    user.
    """
    return os.path.expanduser(path)  # noqa: PTH111 - that of Path raises without such a user


def home_of(kind: str) -> Path:
    """The folder of one kind: below PADDOCK_HOME when set, else by the XDG rules.

    A relative PADDOCK_HOME is taken from the current folder; a relative XDG value is ignored, as
    the XDG specification asks. Raises PaddockError `bad-option` for the home of nobody.
    """
    if own := os.environ.get("PADDOCK_HOME"):
        home = Path(at_home(own))
        if own.startswith("~") and home == Path(own):  # nobody means a folder of that name
            from provision.errors import PaddockError
            from provision.words import text

            wanted = text("wanted.home")
            raise PaddockError("bad-option", option="PADDOCK_HOME", value=own, wanted=wanted)
        return home.absolute() / kind
    variable, default = _XDG[kind]
    base = os.environ.get(variable, "")
    return (Path(base) if base.startswith("/") else Path.home() / default) / "paddock"


def cache_dir() -> Path:
    """What can be fetched or built again: downloads, package cache, build trees."""
    return home_of("cache")


def state_dir() -> Path:
    """What happened: journals, locks, logs."""
    return home_of("state")


def data_dir() -> Path:
    """What was made: environments and wheels."""
    return home_of("data")


def targets() -> list[str]:
    """The targets this installation knows, by name."""
    return sorted(path.parent.name for path in IMAGES.glob("*/stack.toml"))
