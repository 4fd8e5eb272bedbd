"""Does the named container see the driver's files of the host?"""

from __future__ import annotations

from pathlib import PurePosixPath

from checks.machine import in_container
from checks.machine.finding import APART, Check, Evidence, Finding, known
from provision.facts import named_container
from provision.facts.snapshot import Facts
from provision.facts.texts.docker import Container, Mount

_FILES = ("npu-smi", "version.info", "ascend_install.info", "efsmi")  # never folders
_OPTIONAL = "/etc/ascend_install.info"  # Paddle's own privileged containers work without it


def _run(facts: Facts) -> Finding:
    found = in_container.named(facts)
    needs = facts.stack.container
    if not found or needs is None or not needs.mounts:
        return APART
    container, output = found
    evidence = [Evidence(f"{one.source} -> {one.destination}", output.source)
                for one in container.mounts] or [Evidence("no mounts", output.source)]  # fmt: skip
    if wrong := _folders(container, facts):
        values = {"path": wrong.source}
        shown = [Evidence(f"{wrong.source} is a folder", "ls -ld")]
        return Finding("error", "folder", values, shown, f"ls -ld {wrong.source}", needs.source)
    if in_container.is_given(container, facts):
        return Finding("ok", evidence=[Evidence(f"runtime {container.runtime}", output.source)])
    missing = [path for path in needs.mounts if not _sees(container, path)]
    if container.privileged and missing == [_OPTIONAL]:
        missing = []
    if not missing:
        return Finding("ok", evidence=evidence)
    libraries = [path for path in missing if path.endswith("/lib64")]
    values = {"missing": ", ".join(missing), "first": (libraries or missing)[0],
              "options": " ".join(f"-v {path}:{path}:ro" for path in missing)}  # fmt: skip
    if libraries:
        return Finding("error", "libraries", values, evidence, source=needs.source)
    return Finding("warning", "partly", values, evidence, source=needs.source)


def _sees(container: Container, path: str) -> bool:
    """Whether a path of the host is mounted, itself or by a folder that it is in."""
    places = {path, *map(str, PurePosixPath(path).parents)} - {"/"}
    if path.endswith("/npu-smi"):  # both folders occur on real machines
        places |= {"/usr/local/bin/npu-smi", "/usr/local/sbin/npu-smi", "/usr/local/sbin"}
    return any(mount.destination.rstrip("/") in places for mount in container.mounts)


def _folders(container: Container, facts: Facts) -> Mount | None:
    """A mounted file that is a folder on the host: Docker made it, as nothing was there."""
    folders = named_container.folders(known(facts.outputs))
    wrong = (mount for mount in container.mounts if mount.source in folders)
    return next((mount for mount in wrong if mount.destination.endswith(_FILES)), None)


CHECK = Check("container-mounts", _run, needs=("container-runtime",), devices=("npu", "gcu"))
