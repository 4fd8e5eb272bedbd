"""`explain`: what a log's failure is, what is behind it, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from checks.logs.catalogue import Failure, failure, failures, is_id
from checks.logs.scan import Find, Scan, ordered
from checks.logs.show import cut, entry_rows, lines
from checks.logs.telling import Spot
from provision.console import show, show_json
from provision.errors import SOUND, UNKNOWN, USAGE, PaddockError
from provision.words import text

SCHEMA = "paddock/explain/1"


def explain(names: Sequence[str], *, json: bool) -> int:
    """Explain logs, or show the entry of a `Kxxx`. Returns the exit status.

    Raises PaddockError `bad-option`, `bad-file`, `no-zstd`, `unknown-failure`.
    """
    if not names:
        raise PaddockError("bad-option", option="FILE", value="", wanted=text("wanted.files"))
    if len(names) == 1 and is_id(names[0]) and not Path(names[0]).exists():
        return entry(failure(names[0]), json=json)
    scan = search(names)
    if json:
        show_json(to_json(scan))
    else:
        for line in lines(scan):
            show(line)
    return status(scan)


def search(names: Iterable[str]) -> Scan:
    """Search these logs. Raises PaddockError `bad-file`, `no-zstd`."""
    scan = Scan()
    for name in names:
        scan.log(name)
    return scan


def status(scan: Scan) -> int:
    """USAGE where a log could not be read to its end, SOUND where something is known."""
    if any(read.problem for read in scan.read):
        return USAGE
    return SOUND if scan.finds else UNKNOWN


def to_json(scan: Scan) -> dict[str, object]:
    """The explanation as JSON values, schema `paddock/explain/1`, the first cause first."""
    rows = [(one, cause) for cause, rest in ordered(scan.finds.values()) for one in (cause, *rest)]
    return {
        "schema": SCHEMA,
        "status": status(scan),
        "known": bool(scan.finds),
        "logs": [msgspec.to_builtins(read) for read in scan.read],
        "findings": [_finding(find, cause, scan) for find, cause in rows],
        "telling": [] if scan.finds else [_spot(spot, scan) for spot in scan.telling.best()],
    }


def _finding(find: Find, cause: Find, scan: Scan) -> dict[str, object]:
    follows = "" if cause is find else cause.failure.id
    place = {**_spot(find.first, scan), "before": find.before, "after": find.after}
    return {**_entry(find.failure), "count": find.count, "follows": follows, **place}


def _spot(spot: Spot, scan: Scan) -> dict[str, object]:
    return {"log": scan.read[spot.log].name, "line": scan.number(spot), "text": spot.text}


def _entry(known: Failure) -> dict[str, object]:
    """An entry with its texts in the user's language."""
    return {
        "id": known.id, "group": known.group, "cause": str(known.cause), "fix": str(known.fix),
        "source": known.source, "seen": known.seen, "confirms": known.confirms,
    }  # fmt: skip


def entry(known: Failure, *, json: bool) -> int:
    """Show one entry of the catalogue."""
    if json:
        show_json({"schema": "paddock/failure/1", **_entry(known), "pattern": known.pattern,
                   "examples": known.examples, "follows": known.follows})  # fmt: skip
        return SOUND
    show(f"{known.id} {known.group}")
    for example in known.examples:
        show(f"     > {cut(example)}")
    for line in entry_rows(known):
        show(line)
    if known.follows:
        show(f"     {text('explain.after', ids=', '.join(known.follows))}")
    return SOUND


def catalogue(*, json: bool) -> int:
    """Show all entries, a line each."""
    if json:
        entries = [_entry(known) for known in failures().values()]
        show_json({"schema": "paddock/failures/1", "failures": entries})
        return SOUND
    for known in failures().values():
        show(f"{known.id} {known.group:<11} {cut(known.examples[0], 100)}")
    return SOUND
