"""`docker inspect` of containers, Docker's `daemon.json` and containerd's `config.toml`."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from provision.facts.texts.section import Section

_SECRET = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|ACCESS_?KEY", re.IGNORECASE)


_START = re.compile(r"\s*(?:\[\s*(?:\{|$)|\{\s*(?:\"|$))")


class Mount(msgspec.Struct):
    """A folder or file of the host in a container."""

    source: str
    destination: str
    writable: bool | None


class Container(msgspec.Struct):
    """A container. `shm_bytes` is the size of its shared memory.

    `devices` are paths on the host. The values of variables that look secret are hidden.
    """

    name: str | None
    image: str | None
    state: str | None
    runtime: str | None
    privileged: bool | None
    network: str | None
    shm_bytes: int | None
    devices: list[str]
    mounts: list[Mount]
    environment: dict[str, str]


class Inspect(msgspec.Struct):
    """`docker inspect`."""

    kind: str
    containers: list[Container]


class Engine(msgspec.Struct):
    """The settings of an engine: its runtimes with their programs."""

    kind: str
    default_runtime: str | None
    runtimes: dict[str, str | None]


def parse(section: Section) -> Inspect | Engine | None:
    """What a JSON document of a section is, if it is one of Docker's."""
    for value in _documents(section.lines):
        rows = value if isinstance(value, list) else [value]
        found = [_container(row) for row in rows if isinstance(row, dict) and "HostConfig" in row]
        if found:
            return Inspect("docker inspect", found)
        if isinstance(value, dict) and {"runtimes", "default-runtime"} & set(value):
            programs = {name: _text(_object(one).get("path"))
                        for name, one in _object(value.get("runtimes")).items()}  # fmt: skip
            return Engine("docker daemon.json", _text(value.get("default-runtime")), programs)
    return None


def _documents(lines: list[str]) -> list[Any]:
    """The first JSON document of a text, with or without other lines around it."""
    starts = [i for i, line in enumerate(lines) if _START.match(line)]
    for start in starts[:5]:
        try:
            return [json.JSONDecoder().raw_decode("\n".join(lines[start:]).lstrip())[0]]
        except (ValueError, RecursionError):
            continue
    return []


def _container(row: dict[str, Any]) -> Container:
    """A container; a field that has another type than it should is taken as absent."""
    host, config = _object(row.get("HostConfig")), _object(row.get("Config"))
    name = _text(row.get("Name"))
    devices = [_text(_object(one).get("PathOnHost")) for one in _list(host.get("Devices"))]
    mounts = [_mount(_object(one)) for one in _list(row.get("Mounts"))]
    shm = host.get("ShmSize")
    privileged = host.get("Privileged")
    return Container(
        name.removeprefix("/") if name else None, _text(config.get("Image")),
        _text(_object(row.get("State")).get("Status")), _text(host.get("Runtime")),
        privileged if isinstance(privileged, bool) else None, _text(host.get("NetworkMode")),
        shm if isinstance(shm, int) else None, [one for one in devices if one],
        [one for one in mounts if one], _environment(_list(config.get("Env"))),
    )  # fmt: skip


def _mount(row: dict[str, Any]) -> Mount | None:
    """A mount with both of its ends."""
    source, destination = _text(row.get("Source")), _text(row.get("Destination"))
    writable = row.get("RW")
    if not source or not destination:
        return None
    return Mount(source, destination, writable if isinstance(writable, bool) else None)


def _environment(rows: list[Any]) -> dict[str, str]:
    """Variables; `***` for a value that looks secret by its name."""
    pairs = (row.split("=", 1) for row in rows if isinstance(row, str) and "=" in row)
    return {name: "***" if _SECRET.search(name) else value for name, value in pairs}


def _object(value: Any) -> dict[str, Any]:
    """A JSON object, empty for anything else."""
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    """A JSON array, empty for anything else."""
    return value if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    """A JSON string that is not empty."""
    return value if isinstance(value, str) and value else None


def containerd(section: Section) -> Engine | None:
    """The runtimes of containerd's `config.toml`, read from its lines (excerpts are common)."""
    if "io.containerd.grpc.v1.cri" not in section.text and "io.containerd.cri" not in section.text:
        return None
    default = re.search(r"^\s*default_runtime_name *= *[\"']([^\"'\n]{1,80})", section.text, re.M)
    names = re.findall(r"\.runtimes\.[\"']?([\w-]{1,60})[\"']?\]", section.text)
    runtimes: dict[str, str | None] = dict.fromkeys(names[:50])
    for name in runtimes:
        options = re.search(
            rf"\.runtimes\.[\"']?{re.escape(name)}[\"']?\.options\][^\[]{{0,2000}}?"
            r"BinaryName *= *[\"']([^\"'\n]{1,200})", section.text
        )  # fmt: skip
        runtimes[name] = options[1] if options else None
    return Engine("containerd config.toml", default[1] if default else None, runtimes)
