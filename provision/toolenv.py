"""Fills one of the tool's own environments from a hash-pinned lock, standard library only.

uv does the work where there is one. Else pip does, from the wheel in `provision/seed/`: a bare
Debian has neither pip nor ensurepip. The lock pins that wheel like everything else.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

from provision.errors import PaddockError
from provision.network import Network, hide_secrets
from provision.paths import ROOT, cache_dir
from provision.process import MARK
from provision.tools import uv
from provision.words import text

# What uv and pip print, and what it means; the first that fits counts.
CAUSES = (
    ("wrong-hash", r"hash mismatch|do not match the hashes"),
    ("bad-certificate", r"certificate"),
    ("disk-full", r"no space left|quota exceeded"),
    ("read-only", r"read-only file system|permission denied"),
    ("no-network", r"connect|timed? ?out|dns error|name resolution|sending request|proxy|fetch"),
)
# Variables of pip, uv and Python that would send the packages to another place.
ELSEWHERE = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "UV_SYSTEM_PYTHON", "PYTHONPATH")


class BootstrapError(PaddockError):
    """An environment could not be made. Its sentences stand under `bootstrap.CODE`."""

    def part(self, name: str) -> str:
        """One sentence, `what`, `cause` or `do`, in the user's language."""
        return text(f"bootstrap.{self.code}.{name}", **self.values)


def install(lock: Path, work: Path) -> None:
    """A virtual environment in `work` with what the lock pins: wheels only, nothing is built.

    `work` is named ENV.something; what is started here is marked with ENV.
    """
    # Resolved, so that an upgrade cannot put another Python behind the same name.
    base = os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]
    python = str(work / "bin" / "python")
    pinned = ["--require-hashes", "--only-binary", ":all:", "-r", str(lock)]
    if _runs([uv(), "--version"]):
        _run([uv(), "venv", "--quiet", "--python", base, str(work)], work)
        _run([uv(), "pip", "install", "--quiet", "--python", python, *pinned], work)
    else:
        _run([base, "-m", "venv", "--without-pip", str(work)], work)
        _run(
            [python, str(_pip(lock) / "pip"), "install", "--no-compile", "--no-input", *pinned],
            work,
        )


def _pip(lock: Path) -> Path:
    """The pip wheel of the seed, which is run as it is: a zip archive that Python can enter."""
    (wheel,) = (ROOT / "provision" / "seed").glob("pip-*.whl")
    if f"sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}" not in lock.read_text("utf-8"):
        raise BootstrapError("wrong-hash", reason=wheel)
    return wheel


def _runs(argv: list[str]) -> bool:
    """Whether this command exists and works."""
    try:
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _variables(work: Path) -> dict[str, str]:
    """The environment of the installer: the user's, with the network settings of the tool."""
    found = {**os.environ, **Network().environment(), MARK: str(work.with_suffix(""))}
    for name in ELSEWHERE:
        found.pop(name, None)
    if "PADDOCK_HOME" in os.environ:
        found.setdefault("UV_CACHE_DIR", str(cache_dir() / "uv"))
        found.setdefault("PIP_CACHE_DIR", str(cache_dir() / "pip"))
    return found


def _run(argv: list[str], work: Path) -> None:
    """Run one command of the installation; BootstrapError with its last lines when it fails."""
    done = subprocess.run(
        argv, cwd=work, env=_variables(work), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip
    if done.returncode:
        lines = [hide_secrets(line) for line in done.stdout.splitlines() if line.strip()]
        raise _failure(lines or [f"{argv[0]}: exit {done.returncode}"], work)


def _failure(lines: list[str], work: Path) -> BootstrapError:
    """What the output of a failed command means, with the line that shows it."""
    last = tuple(lines[-8:])
    for code, signs in CAUSES:
        if shown := [line for line in lines if re.search(signs, line, re.IGNORECASE)]:
            return BootstrapError(code, last, path=work.parent, reason=shown[-1].strip())
    return BootstrapError("step-failed", last, reason=last[-1].strip())
