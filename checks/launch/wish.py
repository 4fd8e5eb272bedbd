"""What is to be started: the recipes of a level, with this run's cards and steps filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from checks.judge.levels import Levels, Recipe, levels
from checks.smoke.settings import LEVELS
from provision.arguments import cards as numbers
from provision.arguments import count
from provision.errors import PaddockError, unknown_name
from provision.words import text

DEGREES = ("tensor_parallel_degree", "pipeline_parallel_degree", "sharding_parallel_degree")


class Wish(NamedTuple):
    """The flags: `recipe` "" is all of the level; `cards` () and `max_steps` 0: as it says."""

    target: str
    level: str
    recipe: str = ""
    cards: tuple[int, ...] = ()
    max_steps: int = 0
    checkout: Path | None = None


class Filled(msgspec.Struct, frozen=True):
    """A recipe with nothing left open."""

    recipe: Recipe
    cards: tuple[int, ...]
    environment: dict[str, str]
    arguments: dict[str, str]
    checkout: Path | None

    @property
    def folder(self) -> Path:
        """Where it runs. Only with a checkout."""
        assert self.checkout  # noqa: S101 - asked for before anything runs
        return self.checkout / self.recipe.folder

    @property
    def degrees(self) -> dict[str, int]:
        """The parallel degrees, 1 where the arguments name none."""
        return {name: int(self.arguments.get(name, "1")) for name in DEGREES}


def wish(  # noqa: PLR0913, PLR0917 - one parameter a flag
    target: str, level: str, recipe: str, cards: str, max_steps: str, checkout: str
) -> Wish:
    """The flags as checked values. Raises PaddockError `bad-option`."""
    folder = Path(checkout).absolute() if checkout else None
    if folder and not folder.is_dir():
        wanted = text("wanted.folder")
        raise PaddockError("bad-option", option="--checkout", value=checkout, wanted=wanted)
    steps = count("--max-steps", max_steps) if max_steps else 0
    return Wish(target, level, recipe, numbers(cards), steps, folder)


def filled(wish: Wish) -> tuple[Levels, list[Filled]]:
    """The recipes that a wish asks for, in their order.

    Raises PaddockError `unknown-level`, `no-program`, `unknown-recipe`, `degrees`.
    """
    known = levels(wish.target)
    of = [one for one in known.recipes if wish.level in ("all", one.level)] if known else []
    if known is None or not of:
        own = sorted({one.level for one in known.recipes}) if known else []
        if wish.level in (*own, *LEVELS, "all"):
            raise PaddockError("no-program", level=wish.level, target=wish.target)
        raise unknown_name("unknown-level", wish.level, [*own, "all"])
    recipes = [one for one in of if wish.recipe in ("", one.name)]
    if not recipes:
        raise unknown_name("unknown-recipe", wish.recipe, [one.name for one in of])
    return known, [fill(one, wish) for one in recipes]


def fill(recipe: Recipe, wish: Wish) -> Filled:
    """One recipe with a wish's values. Raises PaddockError `degrees`."""
    cards = wish.cards or tuple(range(recipe.cards))
    _refuse_unused(recipe, wish)
    values = {"{cards}": ",".join(map(str, cards)),
              "{max_steps}": str(wish.max_steps or recipe.max_steps)}  # fmt: skip
    found = Filled(
        recipe, cards, _open(recipe.environment, values), _open(recipe.arguments, values),
        wish.checkout,
    )  # fmt: skip
    product = 1
    for degree in found.degrees.values():
        product *= degree
    if len(cards) % product or (len(cards) > 1 and not recipe.launcher):
        shown = " x ".join(f"{name} {value}" for name, value in found.degrees.items())
        raise PaddockError(
            "degrees", recipe=recipe.name, count=len(cards), degrees=shown, product=product
        )
    return found


def _refuse_unused(recipe: Recipe, wish: Wish) -> None:
    """A flag that this recipe cannot follow is no flag to ignore. Raises PaddockError."""
    values = [*recipe.environment.values(), *recipe.arguments.values()]
    flags = {"--cards": ("{cards}", wish.cards), "--max-steps": ("{max_steps}", wish.max_steps)}
    for flag, (place, given) in flags.items():
        if given and place not in values:
            raise PaddockError("flags-apart", one=flag, other=f"--recipe {recipe.name}")


def refuse_mixed(given: Mapping[str, object]) -> None:
    """Raises PaddockError `flags-apart` where the first of these flags stands beside another."""
    flags = [flag for flag, value in given.items() if value]
    if flags[1:] and flags[0] == next(iter(given)):
        raise PaddockError("flags-apart", one=flags[0], other=flags[1])


def refuse_alone(given: Mapping[str, object], needed: Mapping[str, object]) -> None:
    """Raises PaddockError `flag-needs` where the flag that is given lacks the one it needs."""
    for (one, value), (other, its) in zip(given.items(), needed.items(), strict=True):
        if value and not its:
            raise PaddockError("flag-needs", one=one, other=other)


def _open(table: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    """The values of a table with the places that are left open filled in."""
    found = dict(table)
    for place, value in values.items():
        found = {key: one.replace(place, value) for key, one in found.items()}
    return found


def differences(filled: Filled) -> Sequence[dict[str, str]]:
    """What is not as in the article, in the user's language."""
    cards = ",".join(map(str, filled.cards))
    return [
        {"article": one.article, "here": one.here.replace("{cards}", cards), "why": str(one.why)}
        for one in filled.recipe.differences
    ]
