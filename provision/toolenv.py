"""Fills one of the tool's own environments from a hash-pinned lock, standard library only.

uv does the work where there is one. Else pip does: that of the Python, or, as a bare Debian has
none, that of Debian's package, which is taken apart in a scratch folder and not installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
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


def install(lock: Path, work: Path) -> None:
    """A virtual environment in `work` with what the lock pins: wheels only, nothing is built.

    `work` is named ENV.something; what is started here is marked with ENV, and ENV.log has what a
    failed installer said. Raises PaddockError: `no-pip`, or what `classify` makes of that log.
    """
    # Resolved, so that an upgrade cannot put another Python behind the same name.
    base = os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]
    python = str(work / "bin" / "python")
    pinned = ["--require-hashes", "--only-binary", ":all:", "-r", str(lock)]
    if _works([uv(), "--version"]):
        _run([uv(), "venv", "--quiet", "--python", base, str(work)], work)
        _run([uv(), "pip", "install", "--quiet", "--python", python, *pinned], work)
        return
    _run([base, "-m", "venv", "--without-pip", str(work)], work)
    with tempfile.TemporaryDirectory(dir=work) as scratch:
        pip = _pip(python, work, Path(scratch))
        _run([python, *pip, "install", "--no-compile", "--no-input", *pinned], work)


def _pip(python: str, work: Path, scratch: Path) -> list[str]:
    """The arguments with which this Python runs a pip."""
    if _works([python, "-c", "import ensurepip"]):
        _run([python, "-m", "ensurepip"], work)
        return ["-m", "pip"]
    return [str(_debian_wheel(work, scratch) / "pip")]  # a zip archive that Python can enter


def _debian_wheel(work: Path, scratch: Path) -> Path:
    """The wheel in Debian's package of pip, fetched and checked by apt; needs no root.

    Raises PaddockError `no-pip`, `disk-full`.
    """
    done = _start(["/bin/sh", "-eu", "-c", FETCH], work, scratch)
    if not done.returncode:
        (wheel,) = scratch.glob("usr/share/python-wheels/pip-*.whl")
        return wheel
    lines = _lines(done)
    code = "disk-full" if classify(lines) == "disk-full" else "no-pip"
    raise PaddockError(code, lines[-SHOWN:], reason=lines[-1], step=STEP, path=work.parent)


def _works(argv: list[str]) -> bool:
    """Whether this command exists and ends well."""
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


def _start(argv: list[str], work: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one command in this folder to its end, whatever that is."""
    return subprocess.run(
        argv, cwd=folder, env=_variables(work), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip


def _lines(done: subprocess.CompletedProcess[str]) -> tuple[str, ...]:
    """What a command has said, secrets hidden; at least one line."""
    said = tuple(hide_secrets(line) for line in done.stdout.splitlines() if line.strip())
    return said or (f"{done.args[0]}: exit {done.returncode}",)


def _run(argv: list[str], work: Path) -> None:
    """Run one command of the installation; a PaddockError with its last lines when it fails."""
    done = _start(argv, work, work)
    if not done.returncode:
        return
    lines, log = _lines(done), work.with_suffix(".log")
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    raise PaddockError(
        classify(lines), lines[-SHOWN:], step=STEP, status=done.returncode, log=log,
        path=work.parent,
    )  # fmt: skip
