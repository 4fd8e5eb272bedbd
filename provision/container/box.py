"""A target's container: found, made, started, removed."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from provision.container.engine import translated
from provision.container.inside import Inside
from provision.container.settings import HOME, MADE, TARGET, Settings, differences, labels, path_of
from provision.errors import PaddockError
from provision.paths import state_dir


def ours(client: Any, target: str | None = None) -> list[Any]:
    """The containers that this home has made, of one target or of all."""
    wanted = labels(target) if target else {HOME: str(state_dir())}
    named = [f"{name}={value}" for name, value in wanted.items()]
    with translated():
        found = client.containers.list(all=True, filters={"label": named}, ignore_removed=True)
    return sorted(found, key=lambda one: (one.labels.get(TARGET, ""), one.name))


def fitting(client: Any, settings: Settings) -> Any | None:
    """The target's container, if it is made as wanted; None where there is none.

    Raises PaddockError `container-differs`.
    """
    found = next(iter(ours(client, settings.wanted.stack.target)), None)
    if found is None:
        return None
    if other := differences(settings.made, found.labels.get(MADE, "")):
        raise PaddockError("container-differs", container=found.name, parts=", ".join(other),
                           target=settings.wanted.stack.target)  # fmt: skip
    return found


def running(client: Any, settings: Settings, found: Any | None) -> Inside:
    """The container that was found, else a new one; started where it does not run.

    Raises PaddockError: `container-name`, `container-lacks`, `container-disk`, `engine-refused`.
    """
    container = found or _created(client, settings)
    start(container)
    return Inside(client, container, settings.wanted.home, settings.wanted.stack.settings)


def _created(client: Any, settings: Settings) -> Any:
    """A new container. One of that name that is not ours stays as it is.

    Podman 4.3 would make an empty folder of a path that is missing.
    """
    if gone := next(filter(_is_gone, settings.sources), None):
        raise PaddockError("container-lacks", what=gone)
    with translated(container=settings.name, image=settings.image):
        image = client.images.get(settings.image)
        path = path_of(image.attrs["Config"].get("Env") or [])
        return client.containers.create(**settings.arguments(path))


def _is_gone(path: Path) -> bool:
    """Whether the path is missing; one that this user may not look at may be there."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def start(container: Any) -> None:
    """Start a container that does not run. One that never could is removed."""
    with translated(container=container.name):
        container.reload()
        fresh = container.status == "created"
        if container.status == "running":
            return
    try:
        with translated(container=container.name):
            container.start()
    except PaddockError:
        if fresh:
            with contextlib.suppress(PaddockError):
                remove([container])
        raise


def remove(containers: Sequence[Any]) -> None:
    """Remove containers, running or not, with what is in them."""
    from docker.errors import NotFound

    for one in containers:
        with translated(container=one.name), contextlib.suppress(NotFound):
            one.remove(force=True, v=True)
