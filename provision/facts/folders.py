"""The folders that the variables in force lead to: where libraries and toolkits come from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from provision.network import hide_secrets

# Lists of folders, in which the first that has the file wins, and single folders of toolkits.
_LISTS = ("LD_LIBRARY_PATH", "PYTHONPATH", "PATH", "LIBRARY_PATH")
_SINGLE = (
    "ASCEND_TOOLKIT_HOME",
    "ASCEND_HOME_PATH",
    "ASCEND_OPP_PATH",
    "ASCEND_AICPU_PATH",
    "ASCEND_NNAE_PATH",
    "ATB_HOME_PATH",
    "CUSTOM_DEVICE_ROOT",
    "CONDA_PREFIX",
    "VIRTUAL_ENV",
    "TOPS_HOME",
)


class Folder(msgspec.Struct, frozen=True):
    """A folder that a variable names. `real` is the folder behind links, None for none there."""

    variable: str
    path: str
    real: str | None


def collect(variables: Mapping[str, str] = os.environ) -> list[Folder]:
    """All folders, in the order in which they are searched."""
    named = [(name, path) for name in _LISTS for path in _entries(variables.get(name, ""))]
    named += [(name, variables[name]) for name in _SINGLE if variables.get(name)]
    return [Folder(name, _shown(path, variables[name]), _real(path)) for name, path in named]


def _shown(path: str, value: str) -> str:
    """A folder without secrets: of an address, that has no place in a list, the end is one."""
    return hide_secrets(f"://{path}" if "://" in value and "@" in path else path)


def _entries(value: str) -> list[str]:
    """The folders of a list; an empty entry (the current folder) is left out."""
    return [path for path in value.split(os.pathsep) if path]


def _real(path: str) -> str | None:
    try:
        return os.path.realpath(path) if Path(path).is_dir() else None
    except (OSError, ValueError):
        return None
