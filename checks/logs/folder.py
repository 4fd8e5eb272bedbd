"""The logs in a folder: by their names, and what has no suffix and begins like text (`dmesg`)."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import msgspec

from provision.errors import PaddockError
from provision.words import text

# What stands beside logs is not searched: models and data are large, and sources quote errors.
_LOG = re.compile(r"(workerlog\.\d+|.+\.(log|txt|out|err)(\.\d+)?)(\.gz|\.zst)?", re.IGNORECASE)
_MOST = 1000  # logs
_HEAD = 4096  # bytes
_CONTROLS = {*range(32)} - {*range(7, 14), 27}  # of a text only a terminal's stand in a log


class Found(msgspec.Struct):
    """A folder's logs, sorted; the files that are left out; what cannot be looked at -> why."""

    logs: list[str]
    left: list[str]
    lost: dict[str, str]


def logs(folder: str) -> Found:
    """The logs of a folder and of those below it. What is hidden is passed over.

    Raises PaddockError `bad-file` for a folder without any log.
    """
    found = Found([], [], {})

    def note(error: OSError) -> None:
        found.lost[str(error.filename)] = str(error.strerror)

    for place, folders, names in os.walk(folder, onerror=note):
        folders[:] = [one for one in folders if not one.startswith(".")]
        for path in (Path(place, one) for one in names if not one.startswith(".")):
            try:
                if stat.S_ISREG(path.stat().st_mode):
                    (found.logs if _is_log(path) else found.left).append(str(path))
            except OSError as error:
                note(error)
    if not found.logs:
        why = tuple(f"{one}: {reason}" for one, reason in found.lost.items())
        raise PaddockError("bad-file", why, file=folder, reason=text("explain.no-logs"))
    found.logs.sort(key=natural)
    found.left = sorted(found.logs[_MOST:] + found.left, key=natural)
    del found.logs[_MOST:]
    return found


def _is_log(path: Path) -> bool:
    """Whether a file is a log. Raises OSError where one has to look into it and cannot."""
    if _LOG.fullmatch(path.name):
        return True
    if "." in path.name:
        return False
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    return bool(head) and not _CONTROLS.intersection(head)


def natural(name: str) -> list[tuple[int, str]]:
    """Names with numbers in the order of these."""
    return [(int(part), "") if part.isdecimal() else (-1, part)
            for part in re.split(r"([0-9]+)", name)]  # fmt: skip
