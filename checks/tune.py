"""`tune`: switches the fused operators on in a model's config.json, and off again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from checks import json_edit
from checks.fit.model import bad, config_of, require_llama
from checks.rewrite import alone, replace, written
from provision.console import show, show_json
from provision.document import Table, tables
from provision.errors import PaddockError
from provision.facts import small
from provision.paths import IMAGES, targets
from provision.words import text

BACKUP = ".before-paddock"
"""What is added to the name of the file for the copy beside it."""


class Field(Table, frozen=True):
    """A field to set to true. `per_heads`: only where heads of keys divide among the cards.

    `reset_by` are releases of paddlenlp with which it has no effect.
    """

    name: str
    source: str
    seen: str
    per_heads: bool = False
    reset_by: list[str] = msgspec.field(default_factory=list)


class Tuned(msgspec.Struct, frozen=True, kw_only=True):
    """What was done, schema `paddock/tune/1`. `changed` has the values before and after.

    None is a field that is not there; `backup` is None where there is no copy (any more).
    `reset_by` has the fields that are on without effect, each with the releases of paddlenlp.
    """

    schema: str = "paddock/tune/1"
    file: str
    backup: str | None
    changed: dict[str, tuple[Any, Any]]
    undone: bool
    reset_by: dict[str, list[str]] = {}


def fields_of(target: str) -> list[Field]:
    """The fields of a target. Raises PaddockError `bad-option` where it has none."""
    path = IMAGES / target / "tune.toml"
    if not path.exists():
        known = [name for name in targets() if (IMAGES / name / "tune.toml").exists()]
        wanted = text("wanted.one-of", names=", ".join(known))
        raise PaddockError("bad-option", option="--target", value=target, wanted=wanted)
    return tables(path, "fields", Field)


def tune(  # noqa: PLR0913 - one parameter a flag
    target: str, config: str, tp: int, without: str, *, undo: bool, json: bool
) -> int:
    """Set the target's fields in a config.json (or that of a folder), or take them back. Returns 0.

    Raises PaddockError `bad-option`, `bad-model`, `no-heads`, `no-backup`, `tune-busy`,
    `tune-unwritable`; then nothing was changed.
    """
    if not config:
        wanted = text("wanted.file")
        raise PaddockError("bad-option", option="--config", value=config, wanted=wanted)
    path = Path(config)
    path = path / "config.json" if small.is_folder(path) else path
    fields = fields_of(target)
    require_llama(path, config_of(path))
    with written(path), alone(path, _backup(path)):
        done = (
            _undo(path, fields) if undo else _tune(path, fields, _values(path, fields, tp, without))
        )
    if json:
        show_json(msgspec.to_builtins(done))
    else:
        _tell(done)
    return 0


def _values(path: Path, fields: list[Field], tp: int, without: str) -> dict[str, bool]:
    """What each field shall be. Raises PaddockError `no-heads`, `bad-option`."""
    left = {name.strip() for name in without.split(",") if name.strip()}
    names = [one.name for one in fields]
    if unknown := sorted(left - set(names)):
        wanted = text("wanted.one-of", names=", ".join(names))
        raise PaddockError("bad-option", option="--without", value=unknown[0], wanted=wanted)
    values = config_of(path)
    heads = values.get("num_key_value_heads") or values.get("num_attention_heads")
    if not isinstance(heads, int) or heads < 1:
        raise bad(path, text("fit.model.field", field="num_key_value_heads", value=heads))
    for one in fields:
        if one.per_heads and one.name not in left and heads % tp:
            raise PaddockError("no-heads", field=one.name, heads=heads, tp=tp)
    return {name: name not in left for name in names}


def _tune(path: Path, fields: list[Field], wanted: Mapping[str, bool]) -> Tuned:
    """Write the file anew where a field is not yet so; the copy is written first.

    A field that shall be off is switched off where it is there, not added.
    """
    before = _text(path)
    values = config_of(path)
    now, changed = before, {}
    for name, value in wanted.items():
        old = values.get(name)
        if old is not value and (value or old):
            now = json_edit.put(now, name, value)
            changed[name] = (old, value)
    backup = _backup(path)
    if changed:
        new = not backup.exists()
        if new or _same(config_of(backup), values, wanted):
            replace(backup, before, like=path)
        try:
            replace(path, now, like=path)
        except OSError:
            if new:
                backup.unlink()
            raise
    copy = small.shown(backup) if backup.exists() else None
    reset = {one.name: one.reset_by for one in fields if one.reset_by and wanted[one.name]}
    return Tuned(
        file=small.shown(path), backup=copy, changed=changed, undone=False, reset_by=reset
    )  # fmt: skip


def _same(one: Mapping[str, Any], other: Mapping[str, Any], names: Iterable[str]) -> bool:
    """Whether the fields are the same: then the file is as before a change, maybe a new one.

    Else it has been changed already, and the copy holds what was before that.
    """
    return all(one.get(name) == other.get(name) for name in names)


def _undo(path: Path, fields: list[Field]) -> Tuned:
    """Give each field its value from the copy, and remove the copy. What else changed stays."""
    backup = _backup(path)
    if not backup.exists():
        raise PaddockError("no-backup", file=small.shown(path), backup=small.shown(backup))
    was, values, now, changed = config_of(backup), config_of(path), _text(path), {}
    for name in reversed([one.name for one in fields]):
        if was.get(name) != values.get(name) or (name in was) != (name in values):
            now = json_edit.put(now, name, was[name]) if name in was else json_edit.drop(now, name)
            changed[name] = (values.get(name), was.get(name))
    if config_of(backup) == msgspec.json.decode(now.removeprefix("\ufeff")):
        now = _text(backup)  # nothing else was changed: the very bytes
    replace(path, now, like=path)
    backup.unlink()
    return Tuned(file=small.shown(path), backup=None, changed=changed, undone=True)


def _backup(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)


def _text(path: Path) -> str:
    """The file as text, its line ends as they are. Raises PaddockError `bad-model`."""
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, ValueError) as error:
        raise bad(path, text("fit.model.json", reason=error)) from None


def _tell(done: Tuned) -> None:
    """The result for a person."""
    key = "tune.undone" if done.undone else "tune.done" if done.changed else "tune.nothing"
    show(text(key, file=done.file, backup=done.backup))
    for name, (old, new) in done.changed.items():
        show(f"  {name:<22} {_shown(old)} -> {_shown(new)}")
    for name, releases in done.reset_by.items():
        show("  " + text("tune.reset", field=name, releases=", ".join(releases)))


def _shown(value: object) -> str:
    return text("tune.absent") if value is None else str(value).lower()
