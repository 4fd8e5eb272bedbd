"""What a vendor's scripts set, for the tests: without it the vendor's plugin finds no library."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from provision.errors import PaddockError

_SCRIPT = 'for file; do . "$file" >&2; done; exec env -0'
_LIMIT = 60.0  # seconds


def sourced(variables: Mapping[str, str], scripts: Sequence[str]) -> dict[str, str]:
    """These variables as a shell has them that has sourced those of the scripts that are there.

    Raises PaddockError `settings-failed` for a script after which the shell does not go on.
    """
    there = [script for script in scripts if Path(script).is_file()]
    if not there:
        return dict(variables)
    argv = ["bash", "-c", _SCRIPT, "bash", *there]
    try:
        done = subprocess.run(
            argv, env=dict(variables), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, errors="surrogateescape", timeout=_LIMIT, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(there, str(error)) from None
    if done.returncode or not done.stdout:
        raise _failed(there, done.stderr)
    rows = (row.partition("=") for row in done.stdout.split("\0") if row)
    return {name: value for name, _, value in rows}


def _failed(scripts: Sequence[str], said: str) -> PaddockError:
    return PaddockError("settings-failed", tuple(said.splitlines()[-20:]), file=", ".join(scripts))
