"""`docker inspect` of containers, Docker's `daemon.json` and containerd's `config.toml`."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from provision.facts.texts.json_text import array, documents, mapping, text
from provision.facts.texts.section import Section
from provision.facts.texts.variables import safe


class Mount(msgspec.Struct):
    """A folder or file of the host in a container."""

    source: str
    destination: str
    writable: bool | None


class Container(msgspec.Struct):
    """A container. `shm_bytes` is the size of its shared memory.

    `devices` are paths on the host, `inside` where the container has them. `exit_code` is that of
    its last end. The values of variables that look secret are hidden.
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
    inside: list[str] = []
    ipc: str | None = None
    exit_code: int | None = None
    out_of_memory: bool | None = None
    error: str | None = None


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
    for value in documents(section.lines):
        rows = value if isinstance(value, list) else [value]
        found = [_container(row) for row in rows if isinstance(row, dict) and "HostConfig" in row]
        if found:
            return Inspect("docker inspect", found)
        if isinstance(value, dict) and {"runtimes", "default-runtime"} & set(value):
            programs = {name: text(mapping(one).get("path"))
                        for name, one in mapping(value.get("runtimes")).items()}  # fmt: skip
            return Engine("docker daemon.json", text(value.get("default-runtime")), programs)
    return None


def _container(row: dict[str, Any]) -> Container:
    """A container; a field that has another type than it should is taken as absent."""
    host, config, state = (mapping(row.get(name)) for name in ("HostConfig", "Config", "State"))
    name = text(row.get("Name"))
    devices = [mapping(one) for one in array(host.get("Devices"))]
    mounts = [_mount(mapping(one)) for one in array(row.get("Mounts"))]
    return Container(
        name=name.removeprefix("/") if name else None,
        image=text(config.get("Image")) or text(row.get("ImageName")),  # the second is podman's
        state=text(state.get("Status")),
        runtime=text(host.get("Runtime")),
        privileged=_flag(host.get("Privileged")),
        network=text(host.get("NetworkMode")),
        shm_bytes=_whole(host.get("ShmSize")),
        devices=[path for one in devices if (path := text(one.get("PathOnHost")))],
        mounts=[one for one in mounts if one],
        environment=environment(array(config.get("Env"))),
        inside=[path for one in devices
                if (path := text(one.get("PathInContainer")) or text(one.get("PathOnHost")))],
        ipc=text(host.get("IpcMode")),
        exit_code=_whole(state.get("ExitCode")),
        out_of_memory=_flag(state.get("OOMKilled")),
        error=text(state.get("Error")),
    )  # fmt: skip


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _mount(row: dict[str, Any]) -> Mount | None:
    """A mount with both of its ends."""
    source, destination = text(row.get("Source")), text(row.get("Destination"))
    if not source or not destination:
        return None
    return Mount(source, destination, _flag(row.get("RW")))


def environment(rows: list[Any]) -> dict[str, str]:
    """Variables; `***` for a value that looks secret by its name."""
    pairs = (row.split("=", 1) for row in rows if isinstance(row, str) and "=" in row)
    return {name: safe(name, value) for name, value in pairs}


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
