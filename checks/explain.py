"""`explain`: what a log's failure is, what is behind it, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import msgspec

from checks.logs import folder
from checks.logs.catalogue import Failure, failure, failures, is_id
from checks.logs.scan import Find, Scan, ordered
from checks.logs.show import cut, entry_rows, lines, some
from checks.logs.telling import Spot
from provision.console import show, show_json
from provision.errors import SOUND, UNKNOWN, USAGE, PaddockError
from provision.words import text

SCHEMA = "paddock/explain/1"


def explain(names: Sequence[str], *, json: bool) -> int:
    """Explain logs, also those in folders, or show the entry of a `Kxxx`. Returns the exit status.

    Raises PaddockError `bad-option`, `bad-file`, `no-zstd`, `unknown-failure`.
    """
    if not names:
        raise PaddockError("bad-option", option="FILE", value="", wanted=text("wanted.files"))
    if len(names) == 1 and is_id(names[0]) and not Path(names[0]).exists():
        return entry(failure(names[0]), json=json)
    found = {name: folder.logs(name) for name in names if _is_folder(name)}
    scan = search(names, found)
    left = [file for one in found.values() for file in one.left]
    if json:
        show_json(to_json(scan, left))
    else:
        for line in (*lines(scan), *_left(left)):
            show(line)
    return status(scan)


def _is_folder(name: str) -> bool:
    return name != "-" and "\0" not in name and Path(name).is_dir()


def search(
    names: Iterable[str], folders: Mapping[str, folder.Found] = MappingProxyType({})
) -> Scan:
    """Search these logs, and the logs of those that are folders.

    Of a folder a log that cannot be opened is no more than that. Raises PaddockError `bad-file`,
    `no-zstd`.
    """
    scan = Scan()
    for name in names:
        if name in folders:
            _search_folder(scan, folders[name])
        else:
            scan.log(name)
    return scan


def _search_folder(scan: Scan, found: folder.Found) -> None:
    for name in found.logs:
        try:
            scan.log(name)
        except PaddockError as error:
            scan.unread(name, str(error.values.get("reason", error.part("what"))))
    for name, reason in found.lost.items():
        scan.unread(name, reason)


def _left(files: Sequence[str]) -> Iterator[str]:
    """The line about the files of folders that were not searched."""
    if files:
        yield text("explain.left", count=len(files), files=some(files))


def status(scan: Scan) -> int:
    """USAGE where a log could not be read to its end, SOUND where something is known."""
    if any(read.problem for read in scan.read):
        return USAGE
    return SOUND if scan.finds else UNKNOWN


def to_json(scan: Scan, left: Sequence[str] = ()) -> dict[str, object]:
    """The explanation as JSON values, schema `paddock/explain/1`, the first cause first.

    `left` are the files of folders that were not searched.
    """
    rows = [(one, cause) for cause, rest in ordered(scan.finds.values()) for one in (cause, *rest)]
    return {
        "schema": SCHEMA,
        "status": status(scan),
        "known": bool(scan.finds),
        "logs": [msgspec.to_builtins(read) for read in scan.read],
        "left": list(left),
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
