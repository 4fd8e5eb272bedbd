"""An explanation as lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.logs.catalogue import Failure
from checks.logs.scan import Find, Scan, ordered
from checks.logs.telling import Spot
from provision.words import text

WIDTH = 240  # characters of a line that are shown


def lines(scan: Scan) -> Iterator[str]:
    """The explanation for a person."""
    for cause, rest in ordered(scan.finds.values()):
        yield from _cause(cause, scan)
        for find in rest:
            yield _consequence(find, scan)
        yield ""
    if not scan.finds:
        yield from _unknown(scan)
    yield from problems(scan)
    if scan.slow:
        yield text("explain.slow")


def _unknown(scan: Scan) -> Iterator[str]:
    """What is said of logs in which nothing is known."""
    spots = scan.telling.best()
    for form in ("empty", "binary"):
        if odd := [one for one in scan.read if one.form == form and not one.problem]:
            yield text(f"explain.{form}", logs=some([name_of(one.name) for one in odd]))
    if logs := [one for one in scan.read if one.form == "text"]:
        yield text("explain.not-known", logs=some([name_of(one.name) for one in logs]))
    if spots or logs:
        yield text("explain.telling" if spots else "explain.nothing")
    yield from (f"  {_where(spot, scan)}  {cut(spot.text)}" for spot in spots)


def problems(scan: Scan) -> Iterator[str]:
    """A line for each log that was not read, or not to its end."""
    for read in scan.read:
        if read.problem:
            values = {"file": name_of(read.name), "reason": read.problem}
            yield text("explain.problem" if read.bytes else "explain.unread", **values)


def _cause(find: Find, scan: Scan) -> Iterator[str]:
    """The lines of a first cause."""
    known = find.failure
    more = text("explain.more", count=find.count - 1) if find.count > 1 else ""
    yield f"x  {known.id} {known.group}  {_where(find.first, scan)}{more}"
    yield from (f"     | {cut(line)}" for line in find.before)
    yield f"     > {cut(find.first.text)}"
    yield from (f"     | {cut(line)}" for line in find.after)
    yield from entry_rows(known)


def _consequence(find: Find, scan: Scan) -> str:
    values = {"id": find.failure.id, "where": _where(find.first, scan), "count": find.count}
    return f"     {text('explain.then', **values)}  {cut(find.first.text)}"


def entry_rows(known: Failure) -> Iterator[str]:
    """Cause, fix and source of an entry, and the checks that would confirm it."""
    yield f"     {text('doctor.so')}  {known.cause}"
    yield f"     {text('doctor.fix')}  {known.fix}"
    source = text("explain.source", source=known.source, seen=known.seen)
    yield f"     {text('doctor.known')}  {source}"
    if known.confirms:
        checks = ", ".join(known.confirms)
        yield f"     {text('explain.check')}  {text('explain.confirms', checks=checks)}"


def _where(spot: Spot, scan: Scan) -> str:
    return f"{name_of(scan.read[spot.log].name)}:{scan.number(spot)}"


def name_of(log: str) -> str:
    """A log's name for a person."""
    return text("explain.stdin") if log == "-" else log


def some(names: Sequence[str], most: int = 20) -> str:
    """The first names of many."""
    return ", ".join([*names[:most], *(["..."] if len(names) > most else [])])


def cut(line: str, width: int = WIDTH) -> str:
    """A line for the terminal, not longer than it helps."""
    line = line.expandtabs(4)
    return line if len(line) <= width else line[: width - 1] + "\N{HORIZONTAL ELLIPSIS}"
