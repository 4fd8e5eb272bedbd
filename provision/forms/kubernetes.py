"""A container of the target in a cluster, whose device plugin hands out the cards."""

from __future__ import annotations

from provision.forms.container import head, image
from provision.forms.dockerfile import health
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
    container = wanted.stack.container
    if container is None:
        return {"containers": [one]}
    if container.resource:
        one["resources"] = {"limits": {container.resource: len(wanted.cards)}}
    paths = {f"host-{number}": path for number, path in enumerate(container.mounts)}
    one["volumeMounts"] = [{"name": _SHM, "mountPath": "/dev/shm"}] + [  # noqa: S108
        {"name": name, "mountPath": path, "readOnly": True} for name, path in paths.items()
    ]
    volumes: list[dict[str, object]] = [
        {"name": _SHM, "emptyDir": {"medium": "Memory", "sizeLimit": str(container.shm)}}
    ]
    # Without a type some runtimes make a folder of a file that is missing.
    volumes += [
        {"name": name, "hostPath": {"path": path, "type": _type(path, container)}}
        for name, path in paths.items()
    ]
    return {"containers": [one], "volumes": volumes}


def _type(path: str, container: Container) -> str:
    return "Directory" if path in container.folders else "File"


def _rights(wanted: Wanted) -> dict[str, object]:
    """The least rights with which the container works, unless more are asked for."""
    if wanted.privileged:
        return {"privileged": True}
    if wanted.stack.image and wanted.stack.image.user:
        return {"allowPrivilegeEscalation": False, "runAsNonRoot": True, "runAsUser": _USER}
    return {"allowPrivilegeEscalation": False}
