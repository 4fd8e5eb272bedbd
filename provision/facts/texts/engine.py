"""Docker's engine: `docker info` and `docker version`, as text and JSON."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from provision.facts.texts import json_text
from provision.facts.texts.section import Section

_FIELD = re.compile(r"^ *(?P<name>[A-Za-z][\w /-]{1,40}):(?: +(?P<value>\S.{0,2000}))?$")
_ERROR = re.compile(
    r"\s*(?:ERROR: |Cannot connect to the Docker daemon|.{0,80}permission denied while trying)",
    re.I,
)
# Parts of an engine that are not runc, nor start it: those of any, of an ordinary user's, and other
# runtimes. A vendor's runtime starts runc and tells the version of that.
_OTHERS = re.compile(
    "|Client|Server|Engine|containerd|docker-init|rootlesskit|slirp4netns|VPNKit|"
    "crun|youki|runsc|kata.*"
)


class DockerInfo(msgspec.Struct, frozen=True):
    """`docker info`. `error` is what the client says when the engine does not answer.

    The versions of containerd and runc are as printed: some engines print a commit.
    """

    kind: str
    server_version: str | None = None
    default_runtime: str | None = None
    runtimes: list[str] = []
    cgroup_driver: str | None = None
    cgroup_version: str | None = None
    storage_driver: str | None = None
    containerd_version: str | None = None
    runc_version: str | None = None
    operating_system: str | None = None
    kernel: str | None = None
    architecture: str | None = None
    cpus: int | None = None
    root_folder: str | None = None
    error: str | None = None


class DockerVersion(msgspec.Struct, frozen=True):
    """`docker version`; None for the parts of an engine that does not answer."""

    kind: str
    client_version: str | None
    server_version: str | None
    api_version: str | None
    containerd_version: str | None
    runc_version: str | None
    error: str | None = None


def info(section: Section) -> DockerInfo | None:
    """`docker info`."""
    for value in json_text.documents(section.lines):
        if isinstance(value, dict) and "ServerVersion" in value and "Driver" in value:
            return _info_json(value)
    fields = {name: value for _, name, value in _fields(section.lines)}
    error = _error(section.lines)
    is_answer = {"Server Version", "Storage Driver"} <= set(fields) or "Default Runtime" in fields
    if not is_answer and not (error and "Debug Mode" in fields):
        return None
    cpus = fields.get("CPUs", "")
    return DockerInfo(
        "docker info", fields.get("Server Version"), fields.get("Default Runtime"),
        sorted(fields.get("Runtimes", "").split()), fields.get("Cgroup Driver"),
        fields.get("Cgroup Version"), fields.get("Storage Driver"),
        fields.get("containerd version"), fields.get("runc version"),
        fields.get("Operating System"), fields.get("Kernel Version"), fields.get("Architecture"),
        int(cpus) if re.fullmatch("[0-9]{1,6}", cpus) else None,
        fields.get("Docker Root Dir"), error,
    )  # fmt: skip


def _info_json(value: dict[str, Any]) -> DockerInfo:
    """`docker info --format '{{json .}}'`, which tells runc and containerd by commit only."""
    text, cpus = json_text.text, value.get("NCPU")
    names = ("ServerVersion", "DefaultRuntime", "CgroupDriver", "CgroupVersion", "Driver")
    server, default, driver, version, storage = (text(value.get(name)) for name in names)
    return DockerInfo(
        "docker info", server, default, sorted(json_text.mapping(value.get("Runtimes"))),
        driver, version, storage, None, None, text(value.get("OperatingSystem")),
        text(value.get("KernelVersion")), text(value.get("Architecture")),
        cpus if isinstance(cpus, int) else None, text(value.get("DockerRootDir")),
    )  # fmt: skip


def version(section: Section) -> DockerVersion | None:
    """`docker version`, and `docker --version`, which tells the client's alone."""
    for value in json_text.documents(section.lines):
        if isinstance(value, dict) and "ApiVersion" in json_text.mapping(value.get("Client")):
            return _version_json(value)
    found = {(part, name): value for part, name, value in _fields(section.lines)}
    client, server = found.get(("Client", "Version")), found.get(("Engine", "Version"))
    server = server or found.get(("Server", "Version"))
    has_client = ("Client", "API version") in found or ("Client", "Go version") in found
    if has_client or ("Engine", "API version") in found:
        api = found.get(("Engine", "API version")) or found.get(("Server", "API version"))
        return DockerVersion(
            "docker version", client, server, api.split()[0] if api else None,
            found.get(("containerd", "Version")), _runtime(found),
            _error(section.lines),
        )  # fmt: skip
    short = re.search(r"^\s*Docker version ([0-9][\w.+~-]{0,60}), build \w+$", section.text, re.M)
    return DockerVersion("docker version", short[1], *[None] * 4) if short else None


def _version_json(value: dict[str, Any]) -> DockerVersion:
    """`docker version --format '{{json .}}'`."""
    text, mapping = json_text.text, json_text.mapping
    server = mapping(value.get("Server"))
    rows = [mapping(one) for one in json_text.array(server.get("Components"))]
    parts = {(str(row.get("Name")), "Version"): text(row.get("Version")) or "" for row in rows}
    return DockerVersion(
        "docker version", text(mapping(value.get("Client")).get("Version")),
        text(server.get("Version")), text(server.get("ApiVersion")),
        parts.get(("containerd", "Version")) or None, _runtime(parts),
    )  # fmt: skip


def _runtime(found: dict[tuple[str, str], str]) -> str | None:
    """The version of runc, which stands under the name of the default runtime (`ascend`)."""
    return next((value for (part, name), value in found.items()
                 if name == "Version" and value and not _OTHERS.fullmatch(part)), None)  # fmt: skip


def _fields(lines: list[str]) -> list[tuple[str, str, str]]:
    """The fields of a text: the title that each stands under, its name, its value."""
    found: list[tuple[str, str, str]] = []
    title = ""
    for line in lines:
        match = _FIELD.match(line)
        if match and (not match["value"] or match["value"].startswith("Docker Engine")):
            title = match["name"]
        elif match:
            found.append((title, match["name"].strip(), match["value"].strip()))
    return found


def _error(lines: list[str]) -> str | None:
    """Why the engine did not answer."""
    found = (line.strip()[:500] for line in lines if _ERROR.match(line))
    return next(found, None)
