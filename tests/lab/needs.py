"""What a test needs of the machine beyond Python: where it is missing, a skip that says so."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest


def needs(present: bool, what: str) -> None:
    """Skip the test where `what` is missing; fail it where PADDOCK_TEST_ALL is set, as in CI."""
    if present:
        return
    if os.environ.get("PADDOCK_TEST_ALL"):
        pytest.fail(f"this test needs {what}")
    pytest.skip(f"needs {what}")


def succeeds(*argv: str) -> bool:
    """Whether a command exists and ends well."""
    found = shutil.which(argv[0]) is not None
    return found and subprocess.run(argv, capture_output=True, check=False).returncode == 0
