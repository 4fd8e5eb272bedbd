"""`checkpoint` as a person meets it: a folder in, the files that are not whole out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from checks.checkpoint.fault import Fault
from checks.checkpoint.folder import Looked, examine
from provision.amounts import size
from provision.console import show, show_json
from provision.errors import ERRORS, SOUND, WARNINGS, PaddockError
from provision.facts import small
from provision.words import text

# What was not looked at, and is no fault of a file.
_UNASKED = frozenset({"adapter", "other-model"})


def checkpoint(names: Sequence[str], *, json: bool) -> int:
    """Show what is wrong with the files. Returns SOUND, WARNINGS or ERRORS.

    Raises PaddockError `bad-option`, `no-checkpoint`.
    """
    if not names:
        raise PaddockError("bad-option", option="FILE", value="", wanted=text("checkpoint.wanted"))
    found = {name: examine(Path(name)) for name in names}
    if json:
        show_json({"schema": "paddock/checkpoint/1", "checkpoints": [
            {"path": small.shown(name), "files": [_values(one) for one in files]}
            for name, files in found.items()
        ]})  # fmt: skip
    else:
        for name, files in found.items():
            for line in _lines(name, files):
                show(line)
    faults = [fault for files in found.values() for one in files for fault in one.faults]
    if not faults:
        return SOUND
    return WARNINGS if all(one.harmless for one in faults) else ERRORS


def _values(one: Looked) -> dict[str, object]:
    """A file as JSON values, each fault with its sentence."""
    faults = [{**msgspec.to_builtins(fault), "reason": reason(fault)} for fault in one.faults]
    return {"file": one.file, "size": one.size, "faults": faults}


def _lines(name: str, files: list[Looked]) -> Iterator[str]:
    """A checkpoint for a person: how many files were looked at, then what is wrong."""
    sizes = [one.size for one in files if one.size is not None]
    shown = small.shown(name)
    yield text("checkpoint.title", name=shown, count=len(sizes), size=size(sum(sizes)))
    for one in files:
        for fault in one.faults:
            said = text("checkpoint.file", file=one.file, reason=reason(fault))
            yield f"  {'!' if fault.harmless else 'x'} {said}"
    if all(fault.name in _UNASKED for one in files for fault in one.faults):
        yield "  " + text("checkpoint.whole")


def reason(fault: Fault) -> str:
    """A fault as a sentence, with the bytes that are missing."""
    said = text(f"checkpoint.fault.{fault.name}", **fault.values)
    if fault.missing is None:
        return said
    key = "checkpoint.at-least" if fault.at_least else "checkpoint.missing"
    return f"{said} ({text(key, count=fault.missing)})"
