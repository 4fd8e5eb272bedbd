"""Which logs to read, which level each is of, and which target it ran on."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from checks.judge import deploy, operators, perplexity, training
from checks.judge.levels import Level, Levels, all_levels
from checks.judge.ranks import Failed, first_failed
from checks.judge.reading import LogRead
from checks.judge.verdict import Reason, Verdict, failed
from checks.logs.folder import natural
from checks.logs.telling import Spot
from provision.errors import PaddockError
from provision.words import text

# What a folder of logs holds beside them (models, data) is not read.
_LOG = re.compile(r"(workerlog\.\d+|.*\.(log|txt|out|err)(\.\d+)?)(\.gz|\.zst)?", re.IGNORECASE)
_MOST = 1000  # logs


def logs_in(name: str) -> tuple[list[str], dict[str, str]]:
    """The logs of a file's name or a folder's, sorted; `-` is standard input.

    And what could not be looked into -> why. Raises PaddockError `bad-file` for a folder without
    any log.
    """
    folder = Path(name)
    if name == "-" or not os.path.isdir(folder):  # noqa: PTH112 - that of Path may raise
        return [name], {}
    found: list[str] = []
    lost: dict[str, str] = {}

    def note(error: OSError) -> None:
        lost[str(error.filename)] = str(error.strerror)

    for place, _, names in os.walk(folder, onerror=note):
        for path in (Path(place, one) for one in names if _LOG.fullmatch(one)):
            try:
                if stat.S_ISREG(path.stat().st_mode):
                    found.append(str(path))
            except OSError as error:
                note(error)
    if not found:
        raise PaddockError("bad-file", tuple(f"{one}: {why}" for one, why in lost.items()),
                           file=name, reason=text("judge.no-logs"))  # fmt: skip
    return sorted(found, key=natural)[:_MOST], lost


def level_of(log: LogRead) -> Level | None:
    """The level whose program wrote a log; None where its lines do not tell."""
    seen = log.seen
    if seen.train.count or seen.train.unread or seen.total or seen.ended:
        return "train"
    evaluated = seen.evals.count or seen.evals.unread or seen.results or seen.cloze
    if evaluated or seen.result_begun or seen.tokens:
        return "model"
    return "deploy" if seen.passes or seen.outputs else None


def levels_for(logs: Sequence[LogRead], level: Level, target: str) -> Levels | None:
    """The target's levels: the one that is named, else by the plugin's lines, else the only one."""
    known = all_levels()
    if target:
        return known.get(target)
    devices = {device for log in logs for device in log.seen.proofs}
    by_device = [one for one in known.values() if one.device in devices and one.of(level)]
    able = [one for one in known.values() if one.of(level)]
    return next(iter(by_device or able), None)


def verdicts(logs: Sequence[LogRead], target: str, status: int | None = None) -> list[Verdict]:
    """A verdict for each level that the logs are of; logs that do not tell belong to all."""
    by_level: dict[Level, list[LogRead]] = {}
    for log in logs:
        if level := level_of(log):
            by_level.setdefault(level, []).append(log)
    silent = [log for log in logs if level_of(log) is None]
    found = [
        judged(level, [*own, *silent], its, status)
        for level, own in by_level.items()
        if (its := levels_for(logs, level, target))
    ]
    # In the log of a run these lines stand by the way, and say nothing about it.
    told = [] if found else [log for log in logs if operators.tells(log)]
    if told:
        found.append(operators.judge(told, target or "ascend910b"))
    return found


def judged(  # noqa: PLR0913, PLR0917 - the last three are what only a run of our own knows
    level: Level, logs: list[LogRead], levels: Levels, status: int | None = None,
    recipe: str = "", exported: Path | None = None,
) -> Verdict:  # fmt: skip
    """The verdict on the logs of one level. Of a run of our own: its exit status, which recipe it
    was, and the folder that it exported to.
    """
    if level == "model":
        verdict = perplexity.judge(logs, levels, status)
    elif level == "train":
        verdict = training.judge(logs, levels, status, recipe)
    else:
        verdict = deploy.judge(logs, levels, status, exported)
    if status != 0:
        verdict.reasons.extend(_broken_off(logs, level))
    return verdict


def _broken_off(logs: list[LogRead], level: Level) -> Iterator[Reason]:
    """An error of a run that did not come to its end, or one that came after that."""
    first = first_failed(logs)
    if first is None:
        return
    ends = [spot for log in logs for spot in (log.seen.ended, *log.seen.results.values()) if spot]
    if not ends and not (level == "deploy" and any(any(log.seen.outputs) for log in logs)):
        yield failed("broken-off", first.spot)
    elif _raised(first) and not any(first.spot < spot for spot in ends if _same_log(first, spot)):
        yield failed("broken-after", first.spot)


def _raised(first: Failed) -> bool:
    """Whether more than a line that looks like a failure shows one: programs go on after those."""
    seen = first.log.seen
    return not first.later and bool(seen.traceback or seen.memory)


def _same_log(first: Failed, spot: Spot) -> bool:
    return spot.log == first.spot.log
