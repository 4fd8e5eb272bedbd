"""`build-ops`: the wheel steps of a target and what they need, then where the wheels are."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from checks.chain import Face, carry_out
from provision import engine
from provision.console import consent, show, show_json
from provision.plan import ancestors
from provision.progress import progress
from provision.words import text


def wheels(options: engine.Options, *, yes: bool, json: bool) -> int:
    """Build what is not built yet; print path, tags and size of each wheel."""
    context = engine.prepare(options)
    names = [step.name for step in context.stack.steps if step.kind == "wheel"]
    options = dataclasses.replace(options, only=ancestors(context, names))
    say = (lambda line="": None) if json else show
    face = Face(say, lambda: progress(json=json), lambda what: consent(what, yes=yes))
    carry_out(options, face)
    built = [wheel for name in names for wheel in (options.site.wheels / name).glob("*.whl")]
    if json:
        show_json({"schema": "paddock/wheels/1", "wheels": [_facts(path) for path in built]})
    for path in built:
        facts = _facts(path)
        say(text("build.wheel", path=path, tags=facts["tags"], size=f"{facts['bytes']:,} bytes"))
    return 0


def _facts(wheel: Path) -> dict[str, object]:
    """What a wheel's name says, checked by the grammar of wheel names."""
    from packaging.utils import parse_wheel_filename

    name, version, _, tags = parse_wheel_filename(wheel.name)
    return {"path": str(wheel), "name": name, "version": str(version),
            "tags": ".".join(sorted(map(str, tags))), "bytes": wheel.stat().st_size}  # fmt: skip
