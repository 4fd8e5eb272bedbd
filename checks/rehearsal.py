"""`lab` and `provision --rehearse`: simulated vendor machines, which come with the checkout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from provision.arguments import named, options
from provision.console import run_tool
from provision.container.where import where
from provision.errors import PaddockError, unknown_name
from provision.words import text

ACTIONS = ("up", "list", "reboot", "down")
_PASSED = (
    "yes", "json", "dry_run", "undo", "from_", "only", "offline", "index_url", "jobs", "release",
    "in_", "cards", "name", "privileged",
)  # fmt: skip
_SOURCES = ("plugin_source", "plugin_ref", "ops_source")


def lab(action: str, target: str, variant: str) -> int:
    """Start, list, start anew or remove simulated machines. Returns the exit status.

    Raises PaddockError `unknown-action`, `unknown-target`, `no-checkout`.
    """
    if action not in ACTIONS:
        raise unknown_name("unknown-action", action, list(ACTIONS))
    return run_tool("tests.lab", action, named(target) if target else "", variant)


def rehearse(target: str, given: Mapping[str, object]) -> int:
    """Run `provision` on a simulated machine of the target; `given` are its flags by name.

    Returns the exit status of the run there. Raises PaddockError `not-rehearsed`, `no-checkout`,
    and as `provision` does for flags that are wrong.
    """
    words = list(_words(given))
    _check(target, given)
    return run_tool("tests.lab", "rehearse", named(target), *words)


def _words(given: Mapping[str, object]) -> Iterator[str]:
    """The flags for the run there. What else its machine, its image or its packages would have to
    be is settled: PaddockError `not-rehearsed`.
    """
    for name, value in given.items():
        flag = f"--{name.strip('_').replace('_', '-')}"
        if not value:
            continue
        if name not in _PASSED:
            reason = text(f"rehearse.{'source' if name in _SOURCES else name}")
            raise PaddockError("not-rehearsed", flag=flag, reason=reason)
        yield flag
        if value is not True:
            yield str(value)


def _check(target: str, given: Mapping[str, object]) -> None:
    """Refuse wrong flags before a machine is made, not on it."""
    value = {name: str(one or "") for name, one in given.items()}
    chosen = options(target, value["release"], begin=value["from_"], only=value["only"],
                     index_url=value["index_url"], jobs=value["jobs"])  # fmt: skip
    choices = {name: value[name] for name in ("image", "cards", "name", "volume")}
    privileged = bool(given["privileged"])
    if where(value["in_"], {**choices, "privileged": privileged}) == "container":
        from checks import containers

        containers.place(chosen, choices, privileged=privileged).check()
