"""Does a log in a folder of outputs show a known failure?"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from checks.logs.catalogue import Failure, causes, failures
from checks.logs.scan import Scan, ordered
from checks.machine.finding import APART, Check, Evidence, Finding, known
from provision.errors import PaddockError
from provision.facts.outputs import parsed
from provision.facts.questions import Output
from provision.facts.snapshot import Facts
from provision.network import hide_secrets

_LINE = 500  # characters of a line that are kept
_LINES = 10  # of a log
_FILES = 500  # that are searched


def logs(folder: Path, names: Iterable[str]) -> list[Output]:
    """Those of these files that show known failures: their lines, first causes before others."""
    found = ((name, _lines(folder / name)) for name in itertools.islice(names, _FILES))
    return [Output(name, "\n".join(lines), name) for name, lines in found if lines]


def _lines(file: Path) -> list[str]:
    """The lines of a log that show known failures; none for a file that cannot be searched."""
    scan = Scan()
    try:
        scan.log(str(file))
    except PaddockError:
        return []
    finds = [one for cause, rest in ordered(scan.finds.values()) for one in (cause, *rest)]
    lines = dict.fromkeys(_around(one.first.text, one.failure) for one in finds)
    return [hide_secrets(line) for line in lines][:_LINES]


def _around(line: str, failure: Failure) -> str:
    """A line, or of a long one the part that shows the failure."""
    match = re.search(failure.pattern, line) if len(line) > _LINE else None
    begin = max(0, match.start() - _LINE // 4) if match else 0
    return line[begin : begin + max(_LINE, len(match[0]) + _LINE // 2 if match else 0)].strip()


def _run(facts: Facts) -> Finding:
    if not facts.sent:  # here the checks look for themselves; `explain` reads logs
        return APART
    shown = list(_known(known(facts.outputs)))
    if not shown:
        return APART
    first = shown[0][0]
    values = {"id": first.id, "why": str(first.cause), "fix": str(first.fix)}
    evidence = list(dict.fromkeys(line for _, line in shown))[:_LINES]
    command = f"paddock explain {first.id}"
    return Finding("warning", "known", values, evidence, command, first.source)


def _known(outputs: Iterable[Output]) -> Iterator[tuple[Failure, Evidence]]:
    """The known failures, of each line the first cause. What a parser knows has its own checks."""
    for output in outputs:
        for line in () if output.problem or parsed(output) else output.text.splitlines():
            shown = {one.id: one for one in failures().values() if one.matches(line)}
            roots = [one for name, one in shown.items() if not causes(name) & shown.keys()]
            if roots:
                yield roots[0], Evidence(line, output.source)


CHECK = Check("sent-log", _run)
