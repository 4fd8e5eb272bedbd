"""Starts a builder so that it can be found again, and ends it in a way in which it tidies up.

Steps and their undo are ended by `process.Processes` and `patience`. Not so a builder: it writes
into no card, so that the first signal ends it; each has its own way to be ended without leaving
secrets behind, which a signal to its group is not; and what it says goes to a file.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from provision.orphans import MARK
from provision.process import signal_group

_PATIENCE = 10.0  # seconds in which a builder ends by itself
_POLL = 0.1  # seconds between looks
_PROCESS, _SAID = "process", "said"
# It notes its own number first, so that no kill comes between its start and the note.
_NOTED = 'echo $$ > "$0" && exec "$@"'


def start(
    command: Sequence[str], variables: Mapping[str, str], folder: Path
) -> tuple[subprocess.Popen[bytes], Path]:
    """Start a builder, with a folder for what is known of it; returns it, and where it speaks to.

    That is a file: a pipe of which this end is gone would kill it before it has tidied up.
    """
    said = folder / _SAID
    with said.open("wb") as file:
        process = subprocess.Popen(
            ["sh", "-c", _NOTED, folder / _PROCESS, *command], stdin=subprocess.DEVNULL,
            stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, **variables, MARK: str(folder)},
        )  # fmt: skip
    return process, said


def lines(file: Path, process: subprocess.Popen[bytes]) -> Iterator[str]:
    """The lines of a file, as a process writes them, to its end."""
    begun = ""
    with file.open(encoding="utf-8", errors="replace") as opened:
        while True:
            has_ended = process.poll() is not None  # asked first: what it wrote last is read too
            while piece := opened.readline():
                begun += piece
                if begun.endswith("\n"):
                    yield begun
                    begun = ""
            if has_ended:
                break
            time.sleep(_POLL)
    if begun:
        yield begun


def end(folder: Path) -> None:
    """End the builder that was started with this folder, if it is still at work.

    Docker's client tells its engine of an interrupt. Podman and Buildah drop all where it is when
    they get a signal, and leave their working containers with the secrets in them. So with them the
    step that runs is ended: the build fails, and they tidy up as after any failed one (measured
    with Podman 4.3 and Buildah 1.28).
    """
    builder = _noted(folder)
    if builder and _program(builder).name.startswith("docker"):
        signal_group(builder, signal.SIGINT)
    for sent in (None, signal.SIGTERM, signal.SIGKILL):
        until = time.monotonic() + _PATIENCE
        if builder and sent:
            signal_group(builder, sent)
        while (builder := _noted(folder)) and time.monotonic() < until:
            for process in _steps(builder):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(_POLL)


def _noted(folder: Path) -> int | None:
    """The builder's process; None where it has ended, or another one has its number by now."""
    try:
        process = int((folder / _PROCESS).read_text())
        variables = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    return process if os.fsencode(f"{MARK}={folder}") in variables else None


def _steps(builder: int) -> Iterator[int]:
    """The processes below it that run another program."""
    below = defaultdict(list)
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # After the name, which is in brackets: state, parent.
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            below[int(parent)].append(int(folder.name))
    waiting = [builder]
    while waiting:
        for process in below[waiting.pop()]:
            waiting.append(process)
            if _program(process) not in {_program(builder), Path()}:
                yield process


def _program(process: int) -> Path:
    """What a process runs; an empty path for one that has ended."""
    try:
        return Path(f"/proc/{process}/exe").readlink()
    except OSError:
        return Path()
