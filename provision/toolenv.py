"""Fills one of the tool's own environments from a hash-pinned lock, standard library only.

uv does the work where there is one. Else pip does: that of the Python, or, as a bare Debian has
none, that of Debian's package, which is taken apart in a scratch folder and not installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from provision.errors import PaddockError
from provision.network import Network, hide_secrets
from provision.orphans import MARK
from provision.paths import cache_dir
from provision.symptoms import classify
from provision.tools import uv

STEP = "tool/environment"
SHOWN = 8  # the last lines of a failed installer that the user sees; the log has them all
# Takes Debian's package of pip apart in the current folder. Where the host's package lists are
# missing or too old, others are fetched into this folder too: the host stays as it is. `update`
# may fail for a source that is not needed; what counts is the download after it.
FETCH = """
get() { apt-get -q -o APT::Sandbox::User=root "$@"; }  # apt's own user cannot write here
get download python3-pip-whl || {
    set -- -o Dir::State::Lists=./lists -o Dir::Cache=./cache -o Acquire::Languages=none
    mkdir -p lists/partial
    get "$@" update || true
    get "$@" download python3-pip-whl
}
dpkg -x python3-pip-whl_*.deb .
"""
# Variables of pip, uv and Python that would send the packages to another place.
ELSEWHERE = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "UV_SYSTEM_PYTHON", "PYTHONPATH")


@dataclass(frozen=True)
class Making:
    """An environment that is being made: its folder, named ENV.something, and what it may fetch."""

    folder: Path
    network: Network


def install(lock: Path, made: Making) -> None:
    """A virtual environment with what the lock pins: wheels only, nothing is built.

    What is started here is marked with ENV, and ENV.log has what a failed installer said. Raises
    PaddockError: `no-pip`, or what `classify` makes of that log.
    """
    # Resolved, so that an upgrade cannot put another Python behind the same name.
    base = os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]
    python = str(made.folder / "bin" / "python")
    pinned = ["--require-hashes", "--only-binary", ":all:", "-r", str(lock)]
    if _works([uv(), "--version"]):
        _run([uv(), "venv", "--quiet", "--python", base, str(made.folder)], made)
        _run([uv(), "pip", "install", "--quiet", "--python", python, *pinned], made)
        return
    _run([base, "-m", "venv", "--without-pip", str(made.folder)], made)
    with tempfile.TemporaryDirectory(dir=made.folder) as scratch:
        pip = _pip(python, made, Path(scratch))
        _run([python, *pip, "install", "--no-compile", "--no-input", *pinned], made)


def _pip(python: str, made: Making, scratch: Path) -> list[str]:
    """The arguments with which this Python runs a pip."""
    if _works([python, "-c", "import ensurepip"]):
        _run([python, "-m", "ensurepip"], made)
        return ["-m", "pip"]
    return [str(_debian_wheel(made, scratch) / "pip")]  # a zip archive that Python can enter


def _debian_wheel(made: Making, scratch: Path) -> Path:
    """The wheel in Debian's package of pip, fetched and checked by apt; needs no root.

    Raises PaddockError `no-pip`, `disk-full`.
    """
    if made.network.offline:
        raise PaddockError("no-pip", reason="--offline", step=STEP, path=made.folder.parent)
    done = _start(["/bin/sh", "-eu", "-c", FETCH], made, scratch)
    if not done.returncode:
        (wheel,) = scratch.glob("usr/share/python-wheels/pip-*.whl")
        return wheel
    lines = _lines(done)
    code = "disk-full" if classify(lines) == "disk-full" else "no-pip"
    raise PaddockError(code, lines[-SHOWN:], reason=lines[-1], step=STEP, path=made.folder.parent)


def _works(argv: list[str]) -> bool:
    """Whether this command exists and ends well."""
    try:
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _variables(made: Making) -> dict[str, str]:
    """The environment of the installer: the user's, with the network settings of the tool."""
    found = {**os.environ, **made.network.environment(), MARK: str(made.folder.with_suffix(""))}
    for name in ELSEWHERE:
        found.pop(name, None)
    if "PADDOCK_HOME" in os.environ:
        found.setdefault("UV_CACHE_DIR", str(cache_dir() / "uv"))
        found.setdefault("PIP_CACHE_DIR", str(cache_dir() / "pip"))
    return found


def _start(argv: list[str], made: Making, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one command in this folder to its end, whatever that is."""
    return subprocess.run(
        argv, cwd=folder, env=_variables(made), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip


def _lines(done: subprocess.CompletedProcess[str]) -> tuple[str, ...]:
    """What a command has said, secrets hidden; at least one line."""
    said = tuple(hide_secrets(line) for line in done.stdout.splitlines() if line.strip())
    return said or (f"{done.args[0]}: exit {done.returncode}",)


def _run(argv: list[str], made: Making) -> None:
    """Run one command of the installation; a PaddockError with its last lines when it fails."""
    done = _start(argv, made, made.folder)
    if not done.returncode:
        return
    lines, log = _lines(done), made.folder.with_suffix(".log")
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    # Pip does not tell why it looks nowhere.
    is_missing = made.network.offline and "No matching distribution found" in lines[-1]
    raise PaddockError(
        "offline-missing" if is_missing else classify(lines), lines[-SHOWN:], step=STEP,
        status=done.returncode, log=log, path=made.folder.parent,
    )  # fmt: skip
