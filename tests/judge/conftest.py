"""Logs to judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from checks.judge.diagnose import Diagnosis, look
from checks.judge.verdict import Verdict
from tests.judge.logs import text

Judge = Callable[..., Diagnosis]


@pytest.fixture
def judged(tmp_path: Path) -> Judge:
    """Judge one log of these lines (or bytes), or several by their names."""

    def run(
        lines: Iterable[str] | bytes = (), target: str = "", **named: Iterable[str]
    ) -> Diagnosis:
        logs = {name.replace("_", "."): text(one) for name, one in named.items()}
        if not logs:
            logs = {"run.log": lines if isinstance(lines, bytes) else text(lines)}
        for name, data in logs.items():
            (tmp_path / name).write_bytes(data)
        return look([str(tmp_path / name) for name in logs], target)

    return run


def only(found: Diagnosis) -> Verdict:
    """The one verdict of a diagnosis."""
    [verdict] = found.verdicts
    return verdict


def keys(found: Diagnosis, state: str) -> set[str]:
    """The reasons of a state, in all verdicts."""
    return {one.key for verdict in found.verdicts for one in verdict.reasons if one.state == state}
