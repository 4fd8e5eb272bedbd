"""The work of a run that no stack names: packages come before the steps that need them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from msgspec.structs import replace as with_fields

from provision.plan import Planned
from provision.render import render
from provision.stack import Step
from provision.steps import KINDS
from provision.steps.base import Context
from provision.vendor import deps
from provision.words import text


def fetched(planned: list[Planned], context: Context) -> list[Planned]:
    """The plan with what has to be downloaded or unpacked as steps of their own.

    They need nothing, so they run beside others; the steps that need them are rendered when their
    turn comes. They are no part of what a stack is, so no key and no seal knows them. Raises
    PaddockError `server-failed`.
    """
    work: list[Planned] = []
    made: dict[str, str] = {}
    for one in planned:
        names = []
        for name, source in _wanting(one, context):
            if source not in made:
                made[source] = f"fetch/{name}"
                work.append(_fetch(made[source], name, source, context))
            names.append(made[source])
        needs = (*one.step.needs, *dict.fromkeys(names))
        step = with_fields(one.step, needs=needs)
        work.append(replace(one, step=step, late=True) if names else one)
    return work


def _wanting(one: Planned, context: Context) -> Iterator[tuple[str, str]]:
    """The packages of a step that are not here yet, each with where it comes from."""
    names = (one.step.package, *one.step.debs) if one.state == "pending" else ()
    for name in filter(None, names):
        found = deps.find(context.stack.packages[name], context)
        if found and not found.is_here:
            yield name, found.offer.url if found.offer else str(found.archive)


def _fetch(name: str, package: str, source: str, context: Context) -> Planned:
    step, kind = Step(name=name, kind="fetch", package=package), KINDS["fetch"]
    script = render(kind.template, kind.values(step, context))
    key = hashlib.sha256(script.encode("utf-8", "surrogateescape")).hexdigest()
    return Planned(step, "pending", text("reason.fetch", source=source), script, key)
