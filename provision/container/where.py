"""Where the steps of `provision` go: on this machine, or into a container."""

from __future__ import annotations

from collections.abc import Mapping

from provision.arguments import one_of
from provision.errors import PaddockError


def where(name: str, only_there: Mapping[str, str | bool]) -> str:
    """`host` or `container`; `only_there` are flags that mean something for a container alone.

    Raises PaddockError `bad-option`, `flag-needs`.
    """
    one_of("--in", name, ("host", "container"))
    given = [flag for flag, value in only_there.items() if value]
    if given and name == "host":
        raise PaddockError("flag-needs", one=f"--{given[0]}", other="--in container")
    return name
