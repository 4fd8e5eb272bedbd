"""A container of the target, with just what it needs of the machine: a command and Compose."""

from __future__ import annotations

import csv
import io

from provision.forms.volumes import Volume
from provision.forms.wanted import Wanted
from provision.forms.yaml import dump
from provision.render import render


def run(wanted: Wanted) -> str:
    """The command `docker run`, or that of Podman, as a script of the shell."""
    container = wanted.stack.container
    return render("forms/run.sh.j2", {
        "command": wanted.command("run"), "engine": wanted.engine, "privileged": wanted.privileged,
        "devices": devices(wanted), "image": image(wanted), "source": source(wanted),
        "mounts": [_bind(one) for one in binds(wanted)],
        "shm": container.shm if container else 0,
    })  # fmt: skip


def compose(wanted: Wanted) -> str:
    """A file for `docker compose`, which reads `$` unless it is doubled."""
    container = wanted.stack.container
    service: dict[str, object] = {"image": image(wanted), "init": True}
    if wanted.privileged:
        service["privileged"] = True
    else:
        service["security_opt"] = ["no-new-privileges:true"]
    if container:
        service["devices"] = [] if wanted.privileged else [f"{n}:{n}" for n in devices(wanted)]
        service["shm_size"] = container.shm
    service["volumes"] = [
        {"type": "bind", "source": one.source, "target": one.target, "read_only": one.read_only,
         "bind": {"create_host_path": False}} for one in binds(wanted)
    ]  # fmt: skip
    kept = {key: _doubled(value) for key, value in service.items() if value != []}
    return head(wanted, "compose") + dump({"services": {wanted.stack.target: kept}})


def image(wanted: Wanted) -> str:
    """The image to start: the one that `paddock image` makes, unless another is named."""
    return wanted.image or f"paddock-{wanted.stack.target}:{wanted.release}"


def devices(wanted: Wanted) -> list[str]:
    """The device nodes of the chosen cards, and those that all cards share."""
    nodes = wanted.stack.container.devices if wanted.stack.container else []
    return [node.replace("*", str(card)) for node in nodes
            for card in (wanted.cards if "*" in node else (0,))]  # fmt: skip


def binds(wanted: Wanted) -> list[Volume]:
    """What the container sees of the machine's files: its target's needs, then what was given."""
    needed = wanted.stack.container.mounts if wanted.stack.container else []
    return [*(Volume(path, path, read_only=True) for path in needed), *wanted.volumes]


def source(wanted: Wanted) -> str:
    """Where it is known from what the container needs."""
    container = wanted.stack.container
    return container.source if container else "a device in host memory needs nothing of the machine"


def head(wanted: Wanted, form: str) -> str:
    """The comments above a YAML document."""
    return render("forms/head.j2", {
        "command": wanted.command(form), "source": source(wanted),
        "privileged": wanted.privileged, "kubernetes": form in ("pod", "job"),
        "volumes": bool(wanted.volumes),
        "root": wanted.stack.image.root if wanted.stack.image else "",
    })  # fmt: skip


def _bind(one: Volume) -> str:
    """The value of `--mount`, whose fields the engine reads as a line of CSV."""
    line = io.StringIO()
    fields = ["type=bind", f"source={one.source}", f"target={one.target}"]
    csv.writer(line, lineterminator="").writerow(fields + ["readonly"] * one.read_only)
    return line.getvalue()


def _doubled(value: object) -> object:
    """The value with `$$` for `$` in every text."""
    if isinstance(value, str):
        return value.replace("$", "$$")
    if isinstance(value, list):
        return [_doubled(one) for one in value]
    return {k: _doubled(v) for k, v in value.items()} if isinstance(value, dict) else value
