"""The environment under test and the way to run a probe script in it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TIME_LIMIT = 120.0  # seconds; a wrong plugin can hang an import for ever


@dataclass(frozen=True)
class Outcome:
    """How a probe ended. `report` is the JSON object in its last line of stdout."""

    status: int
    stdout: str
    stderr: str

    @property
    def report(self) -> Any:
        assert self.status == 0, self.stdout + self.stderr
        return json.loads(self.stdout.strip().splitlines()[-1])


Probe = Callable[..., Outcome]


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest) -> Path:
    """An environment with paddle and both wheels; PADDOCK_TEST_PADDLE may name one."""
    given = os.environ.get("PADDOCK_TEST_PADDLE")
    if given:
        return Path(given)
    home: Path = request.getfixturevalue("stack_home")
    return home / "data" / "envs" / "loopback"


@pytest.fixture(scope="session")
def probe(stack: Path) -> Probe:
    """Run a script of `probes/` in the environment under test."""
    return lambda script, *arguments, **more: run_probe(stack, script, *arguments, **more)


def run_probe(
    environment: Path, script: str, *arguments: str, limit: float = TIME_LIMIT, **variables: str
) -> Outcome:
    """Run `probes/SCRIPT ARGUMENTS`; subprocess.TimeoutExpired after `limit` seconds."""
    inherited = ("CUSTOM_DEVICE_", "LOOPBACK_", "PYTHON")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(inherited)}
    result = subprocess.run(
        [environment / "bin" / "python", HERE / "probes" / script, *arguments],
        env=clean | variables, capture_output=True, text=True, check=False, timeout=limit,
    )  # fmt: skip
    return Outcome(result.returncode, result.stdout, result.stderr)
