"""The result of a probe: JSON lines, each written at once.

A probe may hang or die in any line of native code. Since every check is announced before it
starts, what is in the file then still tells which check that was.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Check = Callable[[], str]
# Paddle's `(NotFound) The kernel ... is not registered.`, and the line below that.
_SAYS_WHY = re.compile(r"\([A-Z]\w+\) |\[Hint")


class Absent(Exception):
    """What a check asks for is not there: nothing to pass, and nothing to fail."""


class Report:
    """Appends events to the result file. Every line is one JSON object with a field `event`."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, event: str, **values: object) -> None:
        """Append one event with a single write, so that no line is ever half there for long."""
        line = json.dumps({"event": event, **values}, ensure_ascii=False)
        os.write(self._file, (line + "\n").encode())

    def check(self, name: str, run: Check) -> bool:
        """Run one check and record it; whether it passed.

        `run` returns one line of detail and raises what it finds wrong. Where it raises Absent, the
        check is told as one that found nothing to check.
        """
        self.write("start", name=name)
        begin = time.monotonic()
        detail, error = "", None
        try:
            detail = run()
        except Absent as why:
            self.write("absent", name=name, reason=str(why))
            return False
        except Exception as problem:  # whatever it is, it is a finding, and the next check runs
            error = explain(problem)
        seconds = round(time.monotonic() - begin, 4)
        passed = error is None
        self.write(
            "check", name=name, passed=passed, detail=detail, seconds=seconds, error=error
        )  # fmt: skip
        return passed


def explain(problem: Exception) -> str:
    """An exception as one line. Paddle's texts are pages: the sentences that say why are kept."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    said = [line for line in lines if "Error:" in line or _SAYS_WHY.match(line)][:2]
    return f"{type(problem).__name__}: {'; '.join(said or lines[:4] or ['no message'])[:500]}"


def require(holds: bool, otherwise: str) -> None:
    """Raise AssertionError with the text unless it holds; `python -O` would drop an assert."""
    if not holds:
        raise AssertionError(otherwise)


def arguments(description: str) -> tuple[argparse.Namespace, dict[str, Any]]:
    """The command line of a probe, and the settings in its --spec file."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--device", required=True, help="Paddle's name of the device")
    parser.add_argument("--out", required=True, type=Path, help="result file, JSON lines")
    parser.add_argument("--spec", required=True, type=Path, help="settings, JSON")
    given = parser.parse_args()
    spec: dict[str, Any] = json.loads(given.spec.read_text(encoding="utf-8"))
    return given, spec
