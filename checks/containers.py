"""`shell`, `status`, `down`: what happens to the containers that `provision` has made."""

from __future__ import annotations

import json as json_module
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from checks.forms import chosen
from provision import guard
from provision.arguments import ALIASES, named, without_server
from provision.console import show, show_json
from provision.container import box, engine, images
from provision.container.inside import Inside
from provision.container.place import Place
from provision.container.settings import DIGEST, IMAGE, MADE, SOURCED, TARGET, VOLUME, private
from provision.engine import Options
from provision.errors import PaddockError
from provision.facts import leftover
from provision.forms.volumes import volumes
from provision.forms.wanted import HOME
from provision.network import Network
from provision.paths import state_dir
from provision.site import Site
from provision.vendor import licences
from provision.words import text

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{1,100}")  # as the engine allows them
SHELL = "shell"


def provision(wanted: Place, *, dry_run: bool, yes: bool, json: bool) -> int:
    """`provision --in container`. Returns the exit status."""
    from checks import inside

    if dry_run:
        return inside.dry_run(wanted, json=json)
    return inside.provision(wanted, yes=yes, json=json)


def place(options: Options, choices: Mapping[str, str], *, privileged: bool) -> Place:
    """The flags of `provision --in container` as checked values; "" is the default.

    Raises PaddockError `bad-option`, `no-base`, `stack-*`, `unknown-*`.
    """
    name = choices["name"]
    if name and not _NAME.fullmatch(name):
        raise PaddockError("bad-option", option="--name", value=name, wanted=text("wanted.name"))
    without_server(options)
    licences.check(options.licences, options.folder)
    index = options.network.environment().get("UV_DEFAULT_INDEX", "")
    if index.startswith("file:"):
        raise PaddockError("bad-option", option="--index-url", value=index,
                           wanted=text("wanted.served"))  # fmt: skip
    image = choices["image"]
    wanted = chosen(options, {"builder": "", "base": image, "image": image,
                              "cards": choices["cards"], "machine": os.uname().machine},
                    privileged=privileged)  # fmt: skip
    given = volumes(choices["volume"], wanted.taken, here=True)
    return Place(options, replace(wanted, volumes=given), name)


def shell(target: str, command: str) -> int:
    """A shell in the target's container, or one command; returns its exit status.

    Raises PaddockError `no-container`, `no-client`, those of the engine.
    """
    client = engine.connect()
    name = _target(client, target)
    found = next(iter(box.ours(client, name)), None)
    if found is None:
        raise PaddockError("no-container", target=name)
    box.start(found)
    inside = Inside(client, found, HOME, json_module.loads(found.labels.get(SOURCED, "[]")))
    variables = private(Network())
    if command:
        return inside.run(["sh", "-c", command], variables, _copy, f"{SHELL}-{os.getpid()}")
    return _interactive(inside, variables)


def _target(client: Any, name: str) -> str:
    """A target by its name, also one of a stack of the person's own whose container there is.

    `auto` is the one that has a container, where just one has.
    """
    there = {one.labels[TARGET] for one in box.ours(client)}
    known = there if name == "auto" and len(there) == 1 else there & {ALIASES.get(name, name)}
    return next(iter(known), "") or named(name)


def _copy(out: bytes | None, err: bytes | None) -> None:
    """Pass on what a command in the container writes, byte for byte."""
    for stream, piece in ((sys.stdout, out), (sys.stderr, err)):
        if piece:
            stream.buffer.write(piece)
            stream.buffer.flush()


def _interactive(inside: Inside, variables: Mapping[str, str]) -> int:
    """Become the engine's own client, which knows terminals; a value is passed by its name."""
    client = _client()
    if client is None:
        raise PaddockError("no-client", container=inside.container.name)
    terminal = ["--tty"] if sys.stdin.isatty() and sys.stdout.isatty() else []
    names = [word for name in variables for word in ("--env", name)]
    script = "command -v bash > /dev/null && exec bash; exec sh"
    words = inside.command(["sh", "-c", script], f"{SHELL}-{os.getpid()}")
    argv = [*client, "exec", "--interactive", *terminal, *names, inside.container.name, *words]
    sys.stdout.flush()
    os.execve(argv[0], argv, {**os.environ, **variables})  # noqa: S606
    return 0


def _client() -> list[str] | None:
    """The command of Docker's client, else of Podman's, which does not read DOCKER_HOST."""
    if docker := shutil.which("docker"):
        return [docker]
    podman, host = shutil.which("podman"), os.environ.get("DOCKER_HOST")
    return [podman, "--url", host] if podman and host else None


def status(*, json: bool) -> int:
    """Show the containers that this home has made, and where a run or an undo was cut short.

    Returns 0. Raises PaddockError of the engine, which has the second in its details.
    """
    left = list(_unfinished())
    told = [text(f"status.cut-short.{one['what']}", target=one["target"],
                 steps=text("plan.comma").join(one["steps"])) for one in left]  # fmt: skip
    try:
        rows = [_row(one) for one in box.ours(engine.connect())]
    except PaddockError as error:
        error.details += tuple(told)
        raise
    if json:
        show_json({"schema": "paddock/status/1", "containers": rows, "unfinished": left})
        return 0
    for line in told:
        show(line)
    for row in rows:
        show(text("status.row", **row))
        show(text("status.image", **row))
        show(text("status.cards", cards=row["cards"] or "-", devices=" ".join(row["devices"])))
        if row["volumes"]:
            show(text("status.volumes", volumes=text("plan.comma").join(row["volumes"])))
    if not rows:
        show(text("status.none"))
    return 0


def _unfinished() -> Iterator[dict[str, Any]]:
    """What was cut short, a `run` or an `undo`, by target; nothing of one that is at work."""
    for file in sorted(state_dir().glob("*/journal.jsonl")):
        target = file.parent.name
        found = leftover.collect(Site(target))
        for what, events in (("run", ("start", "interrupted")), ("undo", ("removing",))):
            steps = [step.name for step in found.steps if step.event in events]
            if steps and not found.running:
                yield {"target": target, "what": what, "steps": steps}


def _row(container: Any) -> dict[str, Any]:
    """One container as JSON values."""
    state = container.attrs["State"]
    started = state["StartedAt"] if not state["StartedAt"].startswith("0001") else ""
    return {
        "container": container.name, "target": container.labels.get(TARGET, ""),
        "state": state["Status"], "health": state.get("Health", {}).get("Status", "none"),
        "since": (started if state["Running"] else state["FinishedAt"]) or "-",
        "image": container.labels.get(IMAGE, ""), "digest": container.labels.get(DIGEST, ""),
        "release": container.labels.get("paddock.release", ""),
        "cards": container.labels.get("paddock.cards", ""),
        "volumes": json_module.loads(container.labels.get(MADE, "{}")).get("volumes", []),
        "devices": [one["PathOnHost"] for one in container.attrs["HostConfig"]["Devices"] or ()],
    }  # fmt: skip


def down(target: str, *, json: bool, dry_run: bool = False) -> int:
    """Remove the target's container, and say what is kept. Returns 0.

    Raises PaddockError `busy`, those of the engine.
    """
    client = engine.connect()
    target = _target(client, target)
    with guard.signals():
        if dry_run:
            names = [one.name for one in box.ours(client, target)]
        else:
            with guard.exclusive(Site(target)):
                found = box.ours(client, target)
                box.remove(found)
                names = [one.name for one in found]
    if json:
        show_json({"schema": "paddock/down/1", "target": target, "dry_run": dry_run,
                   "removed": names})  # fmt: skip
        return 0
    for name in names:
        show(text("down.would" if dry_run else "down.removed", name=name))
    if not names:
        show(text("down.nothing", target=target))
    show(text("down.kept", record=images.record_file(), volume=VOLUME, state=state_dir() / target))
    return 0
