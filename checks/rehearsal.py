"""`lab` and `provision --rehearse`: simulated vendor machines, which come with the checkout."""

from __future__ import annotations

from collections.abc import Mapping

from provision.arguments import named
from provision.console import run_tool
from provision.errors import PaddockError, unknown_name

ACTIONS = ("up", "list", "reboot", "down")
# What else the machine or its packages would have to be is settled there.
_UNSET = (None, "", False, "host")  # the last is that of --in
_PASSED = (
    "yes", "json", "dry_run", "undo", "from_", "only", "offline", "index_url", "jobs", "release",
)  # fmt: skip


def lab(action: str, target: str, variant: str) -> int:
    """Start, list, start anew or remove simulated machines. Returns the exit status.

    Raises PaddockError `unknown-action`, `unknown-target`, `no-checkout`.
    """
    if action not in ACTIONS:
        raise unknown_name("unknown-action", action, list(ACTIONS))
    return run_tool("tests.lab", action, named(target) if target else "", variant)


def rehearse(target: str, given: Mapping[str, object]) -> int:
    """Run `provision` on a simulated machine of the target; `given` are its flags by name.

    Returns the exit status of the run there. Raises PaddockError `flags-apart`, `unknown-target`,
    `no-checkout`.
    """
    words = []
    for name, value in given.items():
        flag = f"--{name.strip('_').replace('_', '-')}"
        if value in _UNSET:
            continue
        if name not in _PASSED:
            raise PaddockError("flags-apart", one="--rehearse", other=flag)
        words += [flag] if value is True else [flag, str(value)]
    return run_tool("tests.lab", "rehearse", named(target), *words)
