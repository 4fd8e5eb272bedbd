"""A container that the user names: what its engine says about it, without its secrets."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from provision.errors import PaddockError
from provision.facts.command import Answer, run
from provision.facts.outputs import found
from provision.facts.questions import Output
from provision.facts.texts.docker import Container, Inspect
from provision.facts.texts.json_text import array, documents, mapping
from provision.network import hide_values

_ENGINES = ("docker", "podman")
_LIMIT = 20  # seconds
# What the clients of Docker 20.10 to 29 and Podman 4 say in place of an answer.
_SILENT = (
    (r"permission denied", "engine-denied"),
    (r"cannot connect|daemon running", "engine-absent"),
)
_ADDRESS = re.compile(r"\b(?:unix|tcp|ssh)://[^\s\"']*[^\s\"'.:]")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,200}")  # as Docker allows them
# What is kept of `inspect`; the rest is long, and says nothing about accelerators.
_KEPT = {
    "State": ("Status", "ExitCode", "OOMKilled", "Error"),
    "Config": ("Image", "Env"),
    "HostConfig": ("Runtime", "Privileged", "NetworkMode", "ShmSize", "IpcMode", "Devices"),
}
_VARIABLES = re.compile(r"ASCEND_|ENFLAME_|TOPS_|FLAGS_|CUSTOM_DEVICE_|LD_LIBRARY_PATH|PATH=")


def outputs(name: str) -> list[Output]:
    """What the engine says about a container, and what kinds of files its mounts are.

    Raises PaddockError `engine-absent`, `engine-denied`, `engine-lost`, and `bad-option` for a name
    that is not there.
    """
    engine = next((path for one in _ENGINES if (path := shutil.which(one))), None)
    if engine is None:
        raise PaddockError("engine-absent", where=f"PATH ({', '.join(_ENGINES)})")
    if not _NAME.fullmatch(name):
        raise _unknown(engine, name)
    answer = ask(engine, "container", "inspect", name)
    rows = documents(answer.out.splitlines())
    rows = [row for row in array(rows[0] if rows else None) if "HostConfig" in mapping(row)]
    if not rows:
        raise _unknown(engine, name)
    source = f"{Path(engine).name} inspect {name}"
    shown = Output(source, json.dumps([_kept(row) for row in rows], indent=1), engine, 0)
    return [shown, *_sources(shown)]


def inspected(outputs: Iterable[Output]) -> tuple[Container, Output] | None:
    """The container that was named."""
    rows = found(outputs, Inspect)
    return next(((row.containers[0], output) for row, output in rows if row.containers), None)


def folders(outputs: Iterable[Output]) -> set[str]:
    """The mounts' sources on the host that are folders, by `ls -ld`."""
    listed = next((one for one in outputs if one.source.startswith("ls -ld ")), None)
    lines = listed.text.splitlines() if listed else []
    return {line[line.index(" /") + 1 :] for line in lines if line.startswith("d") and " /" in line}


def ask(engine: str, *words: str) -> Answer:
    """What the client of an engine answers. Raises PaddockError `engine-*` where the engine itself
    does not."""
    try:
        answer = run([engine, *words], _LIMIT)
    except OSError as error:
        raise PaddockError("engine-lost", reason=f"{engine}: {error.strerror}") from None
    if answer.status is None:
        raise PaddockError("engine-lost", reason=f"{engine}: no answer within {_LIMIT} s")
    for pattern, code in _SILENT:
        if re.search(pattern, answer.err, re.IGNORECASE):
            where = _ADDRESS.search(answer.err)
            raise PaddockError(code, tuple(answer.err.strip().splitlines()[-3:]),
                               where=where[0] if where else Path(engine).name)  # fmt: skip
    return answer


def _unknown(engine: str, name: str) -> PaddockError:
    """There is no such container; the error names those that there are."""
    from provision.words import text

    names = ask(engine, "ps", "--all", "--format", "{{.Names}}").out.split()
    key = "wanted.container" if names else "wanted.no-container"
    wanted = text(key, names=", ".join(names[:20]))
    return PaddockError("bad-option", option="--container", value=name, wanted=wanted)


def _kept(row: dict[str, Any]) -> dict[str, Any]:
    """What concerns accelerators; of the variables only those, so that no secret is kept."""
    kept: dict[str, Any] = {name: row.get(name) for name in ("Name", "ImageName")}
    for part, names in _KEPT.items():
        kept[part] = {name: mapping(row.get(part)).get(name) for name in names}
    variables = [one for one in array(kept["Config"].get("Env")) if isinstance(one, str)]
    kept["Config"]["Env"] = [hide_values(one) for one in variables if _VARIABLES.match(one)]
    keys = ("Source", "Destination", "RW")
    mounts = [mapping(one) for one in array(row.get("Mounts"))]
    kept["Mounts"] = [{key: one.get(key) for key in keys} for one in mounts]
    return kept


def _sources(shown: Output) -> list[Output]:
    """What the mounted paths are on the host: Docker makes a folder of one that was not there."""
    named = inspected([shown])
    paths = [mount.source for mount in named[0].mounts] if named else []
    paths = [path for path in paths if path.startswith("/") and "\n" not in path]
    if not paths:
        return []
    answer = run(["ls", "-ld", "--", *paths], _LIMIT, {"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    return [Output("ls -ld " + " ".join(paths), answer.out, "ls", answer.status)]
