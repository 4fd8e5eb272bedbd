"""What a machine's outputs say about its container engine, for the checks of it."""

from __future__ import annotations

import json
from collections.abc import Iterable

from provision.facts.outputs import found
from provision.facts.questions import Output
from provision.facts.texts.docker import Engine
from provision.facts.texts.engine import DockerInfo, DockerVersion

DAEMON_FILE = "/etc/docker/daemon.json"


def asked(outputs: Iterable[Output]) -> Output | None:
    """The answer of `docker info`, whatever it was."""
    return next((one for one in outputs if one.source.startswith("docker info")), None)


def info(outputs: Iterable[Output]) -> tuple[DockerInfo, Output] | None:
    """`docker info` of an engine that answered."""
    rows = found(outputs, DockerInfo)
    return next(((row, output) for row, output in rows if row.server_version), None)


def runc_version(outputs: Iterable[Output]) -> tuple[str, Output] | None:
    """The version of runc, and who told it."""
    outputs = list(outputs)
    for version, output in found(outputs, DockerVersion):
        if version.runc_version:
            return version.runc_version, output
    for row, output in found(outputs, DockerInfo):
        if row.runc_version:
            return row.runc_version, output
    return None


def settings(outputs: Iterable[Output]) -> tuple[Engine, Output] | None:
    """The runtimes that `daemon.json` names."""
    rows = found(outputs, Engine)
    return next(((row, output) for row, output in rows if row.kind == "docker daemon.json"), None)


def broken_settings(outputs: Iterable[Output]) -> tuple[str, Output] | None:
    """Why `daemon.json` is no JSON; None where it is, or where there is none."""
    file = next((one for one in outputs if one.source == DAEMON_FILE and not one.problem), None)
    if file is None or not file.text.strip():
        return None
    try:
        json.loads(file.text)
    except (ValueError, RecursionError) as error:
        return str(error), file
    return None
