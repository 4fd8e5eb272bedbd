"""Judges the logs of an export and of a prediction, and the folder that was exported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from checks.judge import common
from checks.judge.levels import Deploy, Levels
from checks.judge.reading import LogRead
from checks.judge.verdict import Reason, Verdict, failed, holds, unknown


def judge(
    logs: list[LogRead], levels: Levels, status: int | None = None, exported: Path | None = None
) -> Verdict:
    """The verdict on a prediction, or on an export where that wrote to the folder `exported`."""
    wanted = levels.deploy
    if exported:
        own = [*files(exported, wanted)] if wanted else []
    else:
        own = [*(_passes(logs, wanted) if wanted else ()), *_answers(logs)]
    reasons = [*own, *common.device(logs, levels), *common.ending(status)]
    ran = {name for one in logs for name in one.seen.passes}
    figures = {} if exported else {"passes": len(ran), "answers": _count(logs)}
    return Verdict("deploy", levels.target, reasons, dict(figures))


def _passes(logs: list[LogRead], wanted: Deploy) -> Iterator[Reason]:
    """Whether the fusion passes ran, and changed anything where the log tells that."""
    ran: dict[str, int | None] = {}
    for one in logs:
        ran |= one.seen.passes
    missing = [name for name in wanted.passes if name not in ran]
    if not ran:
        yield unknown("passes-unseen")
    elif missing:
        yield failed("passes-missing", names=", ".join(missing))
    else:
        yield holds("passes", count=len(wanted.passes))
    idle = [name for name in wanted.passes if ran.get(name) == 0]
    if idle:
        yield failed("passes-idle", names=", ".join(idle))


def _count(logs: list[LogRead]) -> int:
    return sum(1 for one in logs for size in one.seen.outputs if size)


def _answers(logs: list[LogRead]) -> Iterator[Reason]:
    """Whether there is a sample answer with something in it."""
    sizes = [size for one in logs for size in one.seen.outputs]
    if not sizes:
        yield unknown("answer-missing")
    elif not all(sizes):
        yield failed("answer-empty", empty=sizes.count(0), count=len(sizes))
    else:
        yield holds("answers", count=len(sizes))


def files(folder: Path, wanted: Deploy) -> Iterator[Reason]:
    """Whether the exported files are there; a model for several cards has folders `rank_N`."""
    missing = [
        (place, " / ".join(names))
        for place in sorted(folder.glob("rank_*")) or [folder]
        for names in wanted.files
        if not any(_has_content(here / name) for here in (place, folder) for name in names)
    ]
    for place, file in missing:
        yield failed("file-missing", file=file, folder=place)
    if not missing:
        yield holds("files", folder=folder)


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0
