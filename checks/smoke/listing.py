"""`smoke --list`: a target's levels, what each of them proves, and where its limits come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from checks.judge.levels import Levels
from checks.judge.levels import levels as programs_of
from checks.smoke.settings import Level, Smoke, settings_of
from provision import stack
from provision.console import show, show_json
from provision.words import text

SCHEMA = "paddock/smoke-levels/1"
_OWN = ("source", "seen")


class Limit(msgspec.Struct, frozen=True):
    """One table of the data by which a level is judged: its values, their source, when seen."""

    name: str
    values: dict[str, object]
    source: str
    seen: str


class Row(msgspec.Struct, frozen=True):
    """A level: what it `proves`, a sentence, and its limits. `programs` are those it starts."""

    level: str
    kind: Literal["test", "program"]
    proves: str
    programs: list[str]
    limits: list[Limit]


def listing(target: str, *, json: bool) -> int:
    """Show the levels of a target. Returns 0. Raises PaddockError `unknown-target`."""
    found = list(rows(target))
    if json:
        show_json({"schema": SCHEMA, "target": target, "levels": msgspec.to_builtins(found)})
        return 0
    show(text("smoke.list.title", target=target, count=len(found)))
    for row in found:
        for line in _lines(row):
            show(line)
    return 0


def programs(target: str) -> tuple[str, ...]:
    """The levels of a target that start a program of PaddleNLP."""
    known = programs_of(target)
    return tuple(dict.fromkeys(one.level for one in known.recipes)) if known else ()


def rows(target: str) -> Iterator[Row]:
    """The levels of a target: its tests of the stack, then those that start a program."""
    settings = settings_of(stack.stack_file(target).parent)
    for level in settings.levels:
        limits = [_limit(name, table) for name, table in _tables(settings, level)]
        yield Row(level, "test", text(f"smoke.list.{level}"), [], limits)
    if known := programs_of(target):
        for name in programs(target):
            recipes = [one.name for one in known.of(name)]
            proves = text(f"smoke.list.program.{name}")
            yield Row(name, "program", proves, recipes, list(_judged_by(known, name)))


def _tables(settings: Smoke, level: Level) -> Iterator[tuple[str, msgspec.Struct]]:
    """What a level is judged by; none of the tables of another level."""
    if level in ("device", "ops", "deploy"):
        yield "tolerance", settings.tolerance
    own = getattr(settings, level, None)
    if isinstance(own, msgspec.Struct):
        yield level, own
    if level == "ops" and settings.latency:
        yield "latency", settings.latency
        yield from (("latency.normal", one) for one in settings.latency.normal)
    if level == "train" and settings.train:
        yield "train.falls", settings.train.falls
    if level == "perf" and settings.perf:
        yield from (("perf.ranges", one) for one in settings.perf.ranges)


def _judged_by(known: Levels, level: str) -> Iterator[Limit]:
    """By what the log of a program is judged."""
    own = {"model": known.perplexity, "train": known.training, "deploy": known.deploy}
    name = {"model": "perplexity", "train": "training"}.get(level, level)
    if table := own.get(level):
        yield _limit(name, table)
    yield from (_limit("speed", one) for one in known.speed if one.level == level)


def _limit(name: str, table: msgspec.Struct) -> Limit:
    """A table of the data as a limit; tables within it stand for themselves."""
    known = msgspec.to_builtins(table)
    values = {
        key: value for key, value in known.items() if key not in _OWN and not _is_table(value)
    }
    return Limit(name, values, known["source"], known["seen"])


def _is_table(value: object) -> bool:
    """Whether a value is a table or a list of tables."""
    first = next(iter(value), None) if isinstance(value, list | tuple) else value
    return isinstance(first, dict)


def _lines(row: Row) -> Iterator[str]:
    """A level for a person."""
    yield f"  {row.level:<7} {row.proves}"
    if row.programs:
        yield f"          {text('smoke.list.programs', names=', '.join(row.programs))}"
    for one in row.limits:
        values = ", ".join(f"{key} {said}" for key, value in one.values.items()
                           if (said := _short(value)))  # fmt: skip
        yield f"          {one.name}: {values}"
        yield f"            {text('smoke.list.source', source=one.source, seen=one.seen)}"


_LONG = 40  # characters of a name that is shown; sentences and hashes are in the JSON


def _short(value: object) -> str:
    """A value on a line: of names their number, nothing for what is long or not there."""
    if isinstance(value, list | tuple):
        numbers = all(isinstance(one, float | int) for one in value)
        return str(list(value)) if numbers else str(len(value))
    if isinstance(value, float):
        return f"{value:.10g}"
    said = "" if value is None else str(value)
    return said if len(said) <= _LONG else ""
