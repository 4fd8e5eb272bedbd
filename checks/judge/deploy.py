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
    """The verdict on a deployment; `exported` is the folder of the static model, if it is known."""
    wanted = levels.deploy
    reasons = [
        *(_passes(logs, wanted) if wanted else ()), *_answers(logs),
        *(files(exported, wanted) if wanted and exported else ()),
        *common.device(logs, levels), *common.ending(status),
    ]  # fmt: skip
    ran = {name for one in logs for name in one.seen.passes}
    return Verdict("deploy", levels.target, reasons, {"passes": len(ran), "answers": _count(logs)})


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
    for place in sorted(folder.glob("rank_*")) or [folder]:
        for names in wanted.files:
            found = [name for name in names if _has_content(place / name)
                     or _has_content(folder / name)]  # fmt: skip
            if not found:
                yield failed("file-missing", file=" / ".join(names), folder=place)
    if folder.is_dir():
        yield holds("files-looked", folder=folder)


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0
