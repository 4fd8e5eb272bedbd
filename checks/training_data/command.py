"""`data` as a person meets it: files in, line numbers and reasons out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from checks.training_data.file import File, examine
from provision.amounts import size
from provision.console import show, show_json
from provision.errors import ERRORS, SOUND, WARNINGS, PaddockError
from provision.facts import small
from provision.words import text


def data(names: Sequence[str], *, json: bool) -> int:
    """Show what is wrong in the files, or in those of a folder. Returns the exit status.

    SOUND, WARNINGS where lines teach nothing, ERRORS where training would stop at a line.
    Raises PaddockError `bad-option`, `bad-data`.
    """
    if not names:
        raise PaddockError("bad-option", option="FILE", value="", wanted=text("data.wanted"))
    paths = [path for name in names for path in files(Path(name))]
    found = []
    for path in paths:
        found.append(examine(path))
        for line in _lines(found[-1]) if not json else ():
            show(line)
    if json:
        show_json({"schema": "paddock/data/1", "files": msgspec.to_builtins(found)})
    if any(one.broken for one in found):
        return ERRORS
    return WARNINGS if any(one.counts for one in found) else SOUND


def files(path: Path) -> list[Path]:
    """A file itself; of a folder what the trainer reads: train and dev, a file or a folder each.

    Raises PaddockError `bad-data` for a folder with neither, and for standard input: what is told
    are lines of a file that the trainer opens by its name.
    """
    if str(path) == "-" and small.is_file(path) is not True:
        raise PaddockError("bad-data", file="-", reason=text("data.no-input"))
    if not small.is_folder(path):
        return [path]
    found = [path / f"{part}.json" for part in ("train", "dev")]
    for part in ("train", "dev"):
        found += [path / part / name for name in small.names(path / part) or ()
                  if name.endswith(".json")]  # fmt: skip
    there = [one for one in found if small.is_file(one)]
    if not there:
        reason = text("data.no-files")
        raise PaddockError("bad-data", file=small.shown(path), reason=reason)
    return there


def _lines(found: File) -> Iterator[str]:
    """One file for a person."""
    values = {"file": found.file, "lines": found.lines, "usable": found.usable}
    yield text("data.title", size=size(found.bytes), **values)
    for one in found.faults:
        said = text("data.line", line=one.line, reason=one.reason)
        yield f"  {'x' if one.broken else '!'} {said}"
    if (left := sum(found.counts.values()) - len(found.faults)) > 0:
        yield "  " + text("data.more", count=left)
