"""The image to start from: found here or pulled, and held to the digest of its first use."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from provision.amounts import size
from provision.container.engine import refused, translated
from provision.errors import PaddockError
from provision.files import put_whole
from provision.paths import state_dir
from provision.progress import Progress, as_step

PULL = "image/pull"


@dataclass(frozen=True)
class Reference:
    """An image as it is asked for.

    `name` has a tag and no digest. `digest` is the one that it has to have; "" where any will do,
    `recorded` where it is that of the first use.
    """

    name: str
    digest: str
    recorded: bool

    @property
    def repository(self) -> str:
        """The name without its tag."""
        head, _, tag = self.name.rpartition(":")
        return self.name if "/" in tag or not head else head

    @property
    def exact(self) -> str:
        """What is pulled: by the digest where one is known."""
        return f"{self.repository}@{self.digest}" if self.digest else self.name


def record_file() -> Path:
    """The digests of the first use, by the names of the images."""
    return state_dir() / "images.json"


def records() -> dict[str, str]:
    """What that file holds. Raises PaddockError `image-record`: unreadable is not unrecorded."""
    try:
        return msgspec.json.decode(record_file().read_bytes(), type=dict[str, str])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        raise PaddockError("image-record", file=record_file(), reason=error) from None


def reference(text: str) -> Reference:
    """The image that `NAME[:TAG][@DIGEST]` asks for."""
    name, _, pinned = text.partition("@")
    if ":" not in name.rpartition("/")[2]:
        name += ":latest"
    known = records().get(name, "")
    return Reference(name, pinned or known, recorded=bool(known and not pinned))


def obtain(client: Any, wanted: Reference, shown: Progress) -> tuple[str, str]:
    """The image's ID here and its digest, which is recorded.

    It is pulled where it is not here, which is shown as a step. Raises PaddockError: `image-gone`,
    `image-changed`, `image-denied`, `registry`, `container-disk`.
    """
    image = find(client, wanted)
    if image is None:
        with as_step(shown, PULL):
            image = _pulled(client, wanted, lambda line: shown.line(PULL, line))
    digest = wanted.digest or _digests(image, wanted)[0]
    _record(wanted.name, digest)
    return str(image.id), digest


def find(client: Any, wanted: Reference) -> Any | None:
    """The image if it is here and has the wanted digest."""
    from docker.errors import ImageNotFound, NotFound

    for name in dict.fromkeys((wanted.exact, wanted.name)):
        try:
            with translated(image=name):
                image = _get(client, name, (ImageNotFound, NotFound))
        except PaddockError as error:
            if error.code != "engine-refused":  # it may refuse a name of another form
                raise
            continue
        if image and (not wanted.digest or wanted.digest in _digests(image, wanted)):
            return image
    return None


def _get(client: Any, name: str, missing: tuple[type[Exception], ...]) -> Any | None:
    try:
        return client.images.get(name)
    except missing:
        return None


def _digests(image: Any, wanted: Reference) -> list[str]:
    """What names the image's content: the registry's digests of it, then its ID.

    One that was never in a registry has its ID alone.
    """
    named = [one.rpartition("@") for one in image.attrs.get("RepoDigests") or ()]
    return [*(digest for name, _, digest in named if name == wanted.repository), str(image.id)]


def _pulled(client: Any, wanted: Reference, listen: Callable[[str], None]) -> Any:
    """The image from its registry."""
    try:
        _pull(client, wanted, listen)
    except PaddockError as error:
        raise _changed(client, wanted, error) or error from None
    if image := find(client, wanted):
        return image
    raise PaddockError("image-gone", image=wanted.exact)


def _pull(client: Any, wanted: Reference, listen: Callable[[str], None]) -> None:
    tag = wanted.digest or wanted.name.rpartition(":")[2]
    sizes: dict[str, tuple[int, int]] = {}
    with translated(image=wanted.exact):
        for event in client.api.pull(wanted.repository, tag=tag, stream=True, decode=True):
            if error := event.get("error"):
                raise refused(str(error), image=wanted.exact)
            if told := progress(event, sizes):
                listen(told)


def progress(event: dict[str, Any], sizes: dict[str, tuple[int, int]]) -> str:
    """How far a pull is; `sizes` keeps what each layer has and will have."""
    detail, layer = event.get("progressDetail") or {}, str(event.get("id", ""))
    if event.get("status") == "Downloading" and detail.get("total"):
        sizes[layer] = (detail.get("current", 0), detail["total"])
    elif event.get("status") in ("Download complete", "Pull complete") and layer in sizes:
        sizes[layer] = (sizes[layer][1],) * 2
    return " / ".join(size(sum(one)) for one in zip(*sizes.values(), strict=True))


def _changed(client: Any, wanted: Reference, error: PaddockError) -> PaddockError | None:
    """The error for a digest that cannot be had, where the name stands for another one now."""
    if not wanted.digest:
        return None
    here = find(client, Reference(wanted.name, "", recorded=False))
    if here is not None:
        actual = _digests(here, wanted)[0]
    elif error.code == "image-gone":
        try:
            with translated(image=wanted.name):
                actual = str(client.images.get_registry_data(wanted.name).id)
        except PaddockError:
            return None
    else:
        return None
    return PaddockError("image-changed", error.details, image=wanted.name, used=wanted.digest,
                        actual=actual, record=record_file())  # fmt: skip


def _record(name: str, digest: str) -> None:
    known = records()
    if known.get(name) == digest:
        return
    file = record_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    put_whole(file, json.dumps({**known, name: digest}, indent=1).encode())
