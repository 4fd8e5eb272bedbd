"""Where a wheel is built: in a container, in an environment made for it, or with the host's own."""

from __future__ import annotations

from typing import NamedTuple

from provision.wheels.recipe import Recipe
from provision.words import text

PLACES = ("venv", "host", "container")
_SHOWN = 3  # names of what is missing


class Place(NamedTuple):
    """One of PLACES; `why` tells a person who did not choose it, "" where there is no choice."""

    name: str
    why: str = ""


def choose(recipe: Recipe, asked: str, image: str, python: str) -> Place:
    """The place that was asked for, also by what only it has; else the recipe's own.

    A recipe that wants the vendor's SDK goes into a container, unless all of that SDK is here. What
    only some sources need counts later, when the sources are known.
    """
    if asked or recipe.place == "venv":
        return Place(asked or "venv")
    if image:
        return Place("container")
    if "/" in python:  # a path: that Python is on this machine
        return Place("venv")
    known = recipe.here()
    wanted = [one for one in recipe.handed_out() if not one.when and one.applies_here(known)]
    gone = [one.name for one in wanted if not one.found(known)]
    vendor = ", ".join(dict.fromkeys(one.vendor for one in wanted))
    if gone:
        names = ", ".join([*gone[:_SHOWN], *["..."] * (len(gone) > _SHOWN)])
        why = text("place.container", backend=recipe.backend, vendor=vendor, names=names)
        return Place("container", why)
    return Place("venv", text("place.venv", backend=recipe.backend, vendor=vendor))
