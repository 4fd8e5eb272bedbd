"""Plans, results and errors as lines of plain text, and as JSON values."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from provision.columns import left
from provision.errors import PaddockError
from provision.plan import Planned, host_changes
from provision.render import quote
from provision.steps.base import Context
from provision.stream import coloured, paint
from provision.tools import uv
from provision.words import text

_SIGN = {"satisfied": "=", "pending": "+", "blocked": "x", "skipped": "-"}
_RED = 31


def summary(planned: list[Planned]) -> str:
    """One line that counts the steps by state."""
    states = [one.state for one in planned]
    parts = [text("plan.steps", count=len(planned))]
    parts += [text(f"plan.{state}", count=states.count(state)) for state in dict.fromkeys(_SIGN)
              if state in states]  # fmt: skip
    if changes := host_changes(planned):
        parts.append(text("plan.host", steps=changes))
    return text("plan.line", parts=text("plan.comma").join(parts))


def table(planned: list[Planned]) -> Iterator[str]:
    """A line a step: sign, name, state, reason."""
    for one in planned:
        state = text(f"state.{one.state}")
        yield f"  {_SIGN[one.state]} {one.name:<22} {left(state, 10)} {one.reason}"


def sources(planned: Iterable[Planned]) -> Iterator[str]:
    """Where the packages that are missing can be got, a line each, below a blank one."""
    lacks = (one.lack for one in planned if one.lack)
    if lines := list(dict.fromkeys(line for lack in lacks for line in lack.details)):
        yield from ("", *(f"  {line}" for line in lines))


def commands(planned: Iterable[Planned]) -> Iterator[str]:
    """The scripts of the steps that would run, and of those that cannot yet, why not."""
    yield f"UV={quote(uv())}"
    for one in planned:
        if one.state in ("pending", "blocked"):
            yield f"# --- {one.name}"
            script = _script(one, planned)
            why = text("commands.late") if one.late else one.reason
            yield from script.rstrip().splitlines() or [f"# {text('commands.none', reason=why)}"]


def _script(one: Planned, planned: Iterable[Planned]) -> str:
    """The commands of a step; "" where what it lacks itself is still to fill them, as a digest is.

    One that only waits for another step has them.
    """
    waits = one.lack is not None and one.lack.remedy in {other.name for other in planned}
    return "" if one.late or (one.lack and not waits) else one.script


def plan_json(context: Context, planned: list[Planned]) -> dict[str, object]:
    """The plan as JSON values, schema `paddock/plan/1`."""
    return {
        "schema": "paddock/plan/1",
        "target": context.stack.target,
        "release": context.release,
        "environment": str(context.site.env),
        "steps": [
            {"name": one.name, "state": one.state, "reason": one.reason,
             "changes_host": bool(one.kind.changes_host), "key": one.key,
             "commands": _script(one, planned)}
            for one in planned
        ],
    }  # fmt: skip


def error_lines(error: PaddockError) -> Iterator[str]:
    """The details, then the three sentences, one line each."""
    yield from (f"    | {line}" for one in error.details for line in one.splitlines() or [""])
    what = f" {error.part('what')}"
    yield paint(_RED, "x", what) if coloured(sys.stderr) else f"x{what}"
    yield f"  {text('error.cause')}  {error.part('cause')}"
    yield f"  {text('error.do')}  {error.part('do')}"
