"""`docker inspect` of images and of networks."""

from __future__ import annotations

from typing import Any

import msgspec

from provision.facts.texts.docker import environment
from provision.facts.texts.json_text import array, documents, mapping, text
from provision.facts.texts.section import Section


class Image(msgspec.Struct, frozen=True):
    """An image; `size` in bytes. The values of variables that look secret are hidden."""

    id: str | None
    tags: list[str]
    digests: list[str]
    architecture: str | None
    os: str | None
    size: int | None
    environment: dict[str, str]


class Images(msgspec.Struct, frozen=True):
    """`docker image inspect`."""

    kind: str
    images: list[Image]


class Network(msgspec.Struct, frozen=True):
    """A network of the engine."""

    name: str | None
    driver: str | None
    subnets: list[str]


class Networks(msgspec.Struct, frozen=True):
    """`docker network inspect`."""

    kind: str
    networks: list[Network]


def parse(section: Section) -> Images | Networks | None:
    """What a JSON list of a section is, if it is one of these."""
    for value in documents(section.lines):
        rows = [row for row in array(value) if isinstance(row, dict)]
        images = [_image(row) for row in rows if {"RepoTags", "RootFS"} <= set(row)]
        networks = [_network(row) for row in rows if {"IPAM", "Driver", "Scope"} <= set(row)]
        if images:
            return Images("docker image inspect", images)
        if networks:
            return Networks("docker network inspect", networks)
    return None


def _image(row: dict[str, Any]) -> Image:
    """An image; a field that has another type than it should is taken as absent."""
    size = row.get("Size")
    return Image(
        text(row.get("Id")), _texts(row.get("RepoTags")), _texts(row.get("RepoDigests")),
        text(row.get("Architecture")), text(row.get("Os")),
        size if isinstance(size, int) else None,
        environment(array(mapping(row.get("Config")).get("Env"))),
    )  # fmt: skip


def _network(row: dict[str, Any]) -> Network:
    """A network with the subnets of its address management."""
    pools = (mapping(one) for one in array(mapping(row.get("IPAM")).get("Config")))
    return Network(text(row.get("Name")), text(row.get("Driver")),
                   _texts([pool.get("Subnet") for pool in pools]))  # fmt: skip


def _texts(value: Any) -> list[str]:
    """The strings of a JSON array."""
    return [one for one in map(text, array(value)) if one]
