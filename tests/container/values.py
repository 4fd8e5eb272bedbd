"""Containers to be made, on an engine without a bridge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from provision import stack
from provision.container import box
from provision.container.inside import Inside
from provision.container.settings import Settings
from provision.engine import Options
from provision.forms.wanted import Wanted
from provision.network import Network
from provision.paths import IMAGES
from tests.container.engine import IMAGE

# An index on loopback, for which a container gets the host's network.
NETWORK = Network(index_url="http://localhost:9/simple")


def settings(client: Any, target: str = "loopback", **choices: Any) -> Settings:
    """The target's container of the busy image."""
    loaded = stack.load(IMAGES / target / "stack.toml")
    wanted = Wanted(loaded, IMAGES / target, loaded.default_release, base=IMAGE, **choices)
    image = str(client.images.get(IMAGE).id)
    return Settings(wanted, image, image, f"paddock-{target}", NETWORK)


def options(target: str = "loopback") -> Options:
    """Options of `provision`, with that network."""
    return Options(target, network=NETWORK)


def without_mounts(one: Settings) -> Settings:
    """The same without what a vendor's driver has put on the host."""
    container = one.wanted.stack.container
    assert container
    bare = _changed(container, mounts=[])
    return replace(
        one, wanted=replace(one.wanted, stack=_changed(one.wanted.stack, container=bare))
    )


def _changed(value: Any, **fields: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(value, **fields)


def inside(client: Any, **choices: Any) -> Inside:
    """A running container of the busy image."""
    return box.running(client, settings(client, **choices), None)
