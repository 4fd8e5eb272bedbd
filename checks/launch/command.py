"""`smoke --level` for a program of PaddleNLP: its commands, or a run of it and the verdict."""

from __future__ import annotations

import os

from checks.launch import preflight
from checks.launch.carry import SCHEMA, carry_out
from checks.launch.preflight import Place
from checks.launch.script import script
from checks.launch.wish import Filled, Wish, differences, filled
from provision.console import show, show_json
from provision.errors import PaddockError
from provision.run import clean
from provision.site import Site
from provision.words import text


def dry_run(wish: Wish, *, json: bool) -> int:
    """Print the commands of a level, and as comments what would be looked at before them.

    Nothing of this machine is looked at but a checkout that is given; what it lacks is named.
    """
    known, recipes = filled(wish)
    if json:
        rows = [_json(one, wish.target, known.device) for one in recipes]
        show_json({"schema": SCHEMA, "target": wish.target, "level": wish.level, "recipes": rows})
        return 0
    for one in recipes:
        for line in script(one, wish.target).rstrip("\n").split("\n"):
            show(line)
        show()
        show(f"# {text('launch.look.title', recipe=one.recipe.name)}")
        for line in preflight.looks(one, wish.target, known.device):
            show(f"#   {line}")
        if lost := list(preflight.of_checkout(one)):
            show(f"# {text('launch.look.lost', folder=one.checkout, count=len(lost))}")
        for line in lost:
            show(f"#   {line}")
        show()
    return 0


def _json(one: Filled, target: str, device: str) -> dict[str, object]:
    recipe = one.recipe
    return {
        "name": recipe.name, "folder": recipe.folder, "program": recipe.program,
        "environment": one.environment, "arguments": one.arguments, "cards": list(one.cards),
        "degrees": one.degrees, "launcher": recipe.launcher, "script": script(one, target),
        "missing": list(preflight.of_checkout(one)),
        "looks": list(preflight.looks(one, target, device)),
        "differences": list(differences(one)), "source": recipe.source, "seen": recipe.seen,
    }  # fmt: skip


def run(wish: Wish, *, json: bool) -> int:
    """Run the recipes of a level and judge them. Returns the exit status of the worst verdict.

    Raises PaddockError as `filled` and `carry_out` do, `no-checkout-given`, `not-provisioned`.
    """
    known, recipes = filled(wish)
    site = Site(wish.target)
    if wish.checkout is None:
        raise PaddockError("no-checkout-given", recipe=recipes[0].recipe.name)
    if not site.python.exists():
        raise PaddockError("not-provisioned", target=wish.target, env=site.env)
    path = f"{site.python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    place = Place(site.python, {**clean(os.environ), "PATH": path}, site.state / "levels")
    return carry_out(known, recipes, place, json=json)
