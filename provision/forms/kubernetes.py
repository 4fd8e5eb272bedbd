"""A container of the target in a cluster, whose device plugin hands out the cards."""

from __future__ import annotations

from provision.forms.container import binds, head, image
from provision.forms.dockerfile import health
from provision.forms.volumes import Volume
from provision.forms.wanted import Wanted
from provision.forms.yaml import dump
from provision.stack import Container

_USER = 10001  # as the image has it
_SHM = "shm"


def pod(wanted: Wanted) -> str:
    """A Pod that stays, with `doctor` as its probe: one of readiness, as no finding is a reason to
    end what runs in there."""
    probe = {"exec": {"command": health(wanted)}, "periodSeconds": 300, "timeoutSeconds": 60}
    spec = _spec(wanted, {"command": ["sleep", "infinity"], "readinessProbe": probe})
    return head(wanted, "pod") + dump({
        "apiVersion": "v1", "kind": "Pod", "metadata": _metadata(wanted), "spec": spec,
    })  # fmt: skip


def job(wanted: Wanted) -> str:
    """A Job that proves the stack once: by the smoke tests, where the target has some."""
    has_tests = (wanted.folder / "smoke.toml").is_file()
    words = ["paddock", "smoke" if has_tests else "doctor", "--target", wanted.stack.target]
    spec = {**_spec(wanted, {"command": words}), "restartPolicy": "Never"}
    labels = {"labels": _metadata(wanted)["labels"]}
    return head(wanted, "job") + dump({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": _metadata(wanted),
        "spec": {"backoffLimit": 0, "template": {"metadata": labels, "spec": spec}},
    })  # fmt: skip


def _metadata(wanted: Wanted) -> dict[str, object]:
    """A name that a cluster takes: a label of DNS."""
    name = f"paddock-{wanted.stack.target}".replace("_", "-").strip("-")[:63]
    return {"name": name, "labels": {"app.kubernetes.io/name": name}}


def _spec(wanted: Wanted, more: dict[str, object]) -> dict[str, object]:
    """The specification of the Pod, with one container."""
    one = {"name": "paddle", "image": image(wanted), **more, "securityContext": _rights(wanted)}
    container, volumes = wanted.stack.container, list[dict[str, object]]()
    mounts = list[dict[str, object]]()
    if container:
        if container.resource:
            one["resources"] = {"limits": {container.resource: len(wanted.cards)}}
        mounts.append({"name": _SHM, "mountPath": "/dev/shm"})  # noqa: S108
        memory = {"medium": "Memory", "sizeLimit": str(container.shm)}
        volumes.append({"name": _SHM, "emptyDir": memory})
    for number, bind in enumerate(binds(wanted)):
        name = f"host-{number}"
        mounts.append({"name": name, "mountPath": bind.target, "readOnly": bind.read_only})
        path = {"path": bind.source, "type": _type(bind, container)}
        volumes.append({"name": name, "hostPath": path})
    if not volumes:
        return {"containers": [one]}
    return {"containers": [one | {"volumeMounts": mounts}], "volumes": volumes}


def _type(bind: Volume, container: Container | None) -> str:
    """Without a type some runtimes make a folder of what is missing."""
    files = {*container.mounts} - {*container.folders} if container else set()
    return "File" if bind.source in files else "Directory"


def _rights(wanted: Wanted) -> dict[str, object]:
    """The least rights with which the container works, unless more are asked for."""
    if wanted.privileged:
        return {"privileged": True}
    if wanted.stack.image and wanted.stack.image.user:
        return {"allowPrivilegeEscalation": False, "runAsNonRoot": True, "runAsUser": _USER}
    return {"allowPrivilegeEscalation": False}
