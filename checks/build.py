"""`build-ops`: the wheels of a target's steps or of a recipe, then where they are."""

from __future__ import annotations

import dataclasses
import functools
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from provision import engine, stream
from provision.amounts import size
from provision.console import show, show_json
from provision.distributions import wheel_name
from provision.errors import unknown_name
from provision.progress import progress
from provision.words import text

if TYPE_CHECKING:
    from checks.build_matrix import Cell, Row
    from checks.build_recipe import Built
    from checks.wheels.built import Papers
    from provision.wheels.order import Order


def recipe_of(backend: str) -> str | None:
    """The backend whose recipe is meant by the name of a recipe or target; None where none is.

    `auto` is the recipe of the accelerator in this machine. Raises PaddockError `unknown-backend`.
    """
    from provision.arguments import ALIASES, found_target
    from provision.paths import targets
    from provision.wheels import recipe

    if backend in recipe.names():
        return backend
    known = ["auto", *ALIASES, *targets(), *recipe.names()]
    if backend not in known:
        raise unknown_name("unknown-backend", backend, sorted(set(known)))
    return recipe.of_target(found_target() if backend == "auto" else ALIASES.get(backend, backend))


def by_recipe(order: Order, *, json: bool) -> int:
    """Build the wheel of a recipe, unless it is there; print path, tags and size."""
    from checks import build_recipe

    began = time.monotonic()
    say = _teller(json=json)
    if order.why:
        say(order.why)
    if order.place == "container":
        from checks import build_container

        made_there = build_container.build(order, say, lambda: progress(json=json))
        return _told(made_there, build_recipe.loaded(made_there), say, json=json)
    made, papers = _looked_at(build_recipe.build(order, say, lambda: progress(json=json)))
    facts = build_recipe.as_json(made) | papers.to_json()
    return _told(facts, build_recipe.lines(made, began), say, json=json)


def _looked_at(made: Built) -> tuple[Built, Papers]:
    """A wheel tried and described, side by side, since Paddle takes seconds to load; then audited.

    Raises PaddockError `wheel-unfit`.
    """
    from checks import build_recipe
    from checks.wheels.built import files_of_recipe, papers_of_recipe

    if before := build_recipe.remembered(made):
        return before, papers_of_recipe(before)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        loading = pool.submit(build_recipe.tried, made)
        files_of_recipe(made)
        made = loading.result()
    return made, papers_of_recipe(made)


def _teller(*, json: bool) -> Callable[[str], None]:
    """Tells a person what should be known; with --json beside the document, as progress is."""
    return functools.partial(stream.say, sys.stderr) if json else show


def _told(
    facts: dict[str, object], lines: Sequence[str], say: Callable[[str], None], *, json: bool
) -> int:
    """Print a wheel, the lines about its build, and what goes with it."""
    from checks.wheels.built import Papers

    if json:
        show_json({"schema": "paddock/wheels/1", "wheels": [facts]})
        return 0
    show(_line(facts))
    for line in (*lines, *Papers.told(facts).lines()):
        say(line)
    return 0


def matrix(orders: Sequence[Order], *, json: bool) -> int:
    """Build and run a wheel with each release; print the table. What does not load is no error.

    Returns the status of the first release that could not be built or tried, after all others.
    """
    from checks import build_matrix, build_table
    from provision.show import error_lines

    say = _teller(json=json)
    made = build_matrix.rows(orders, say, lambda: progress(json=json))
    found = list(build_matrix.cells(made, say))
    wheels = build_table.described(made, found)
    failed = list(build_table.failures(made, found))
    if json:
        show_json(build_table.as_json(made, wheels, found))
    else:
        _table(made, wheels, found)
    for releases, error in failed:
        stream.say(sys.stderr, text("matrix.failed", releases=releases))
        for line in error_lines(error):
            stream.say(sys.stderr, line)
    build_matrix.forget()
    return failed[0][1].status if failed else 0


def _table(made: Sequence[Row], wheels: Sequence[tuple[Built, Papers]], found: list[Cell]) -> None:
    """A matrix for people: the wheels, then how they loaded."""
    from checks import build_recipe, build_table

    for wheel, papers in wheels:
        for line in (_line(build_recipe.as_json(wheel)), *papers.lines()):
            show(line)
    for line in build_table.table(made, found):
        show(line)


def wheels(options: engine.Options, *, yes: bool, json: bool) -> int:
    """Build what is not built yet; print path, tags and size of each wheel."""
    from checks.chain import Face, carry_out
    from checks.wheels.built import papers_of_step
    from provision.plan import ancestors

    context = engine.prepare(options)
    names = [step.name for step in context.stack.steps if step.kind == "wheel"]
    options = dataclasses.replace(options, only=ancestors(context, names))
    face = Face.here(json=json, yes=yes)
    carry_out(options, face)
    built = [(context.step(name), wheel) for name in names
             for wheel in (options.site.wheels / name).glob("*.whl")]  # fmt: skip
    shown = [(path, _facts(path), papers_of_step(step, context, path)) for step, path in built]
    if json:
        rows = [facts | papers.to_json() for _, facts, papers in shown]
        show_json({"schema": "paddock/wheels/1", "wheels": rows})
    for _, facts, papers in shown:
        face.show(_line(facts))
        for line in papers.lines():
            face.show(line)
    return 0


def _facts(wheel: Path) -> dict[str, object]:
    """What a wheel's name says, checked by the grammar of wheel names."""
    name, version, tags = wheel_name(wheel.name)
    return {"path": str(wheel), "name": name, "version": version, "tags": tags,
            "bytes": wheel.stat().st_size}  # fmt: skip


def _line(facts: dict[str, object]) -> str:
    """A wheel for people."""
    held = size(cast(int, facts["bytes"]))
    return text("build.wheel", path=facts["path"], tags=facts["tags"], size=held)
