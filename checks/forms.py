"""`render` and `image` as a person meets them."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from provision import stack
from provision.amounts import duration
from provision.arguments import cards, one_of, without_server
from provision.console import show, show_json
from provision.engine import Options
from provision.errors import PaddockError, unknown_name
from provision.forms import container
from provision.forms.dockerfile import SECRETS
from provision.forms.registry import FORMS, STARTING
from provision.forms.volumes import volumes
from provision.forms.wanted import HOME, MACHINES, Wanted
from provision.imaging.builder import KINDS
from provision.render import quote
from provision.stream import pour, say
from provision.words import text

# What starts a container of an image that another than Docker has built: buildah cannot.
_ENGINES = {"podman": "podman", "buildah": "podman"}
_REFERENCE = re.compile(r"[a-z0-9][A-Za-z0-9._:/@-]*")


def render(options: Options, form: str, choices: Mapping[str, str], *, privileged: bool) -> int:
    """Print a target in this form. Returns the exit status.

    `choices` are the flags by name, "" for what was not given. Raises PaddockError `unknown-form`,
    `bad-option`, `flag-needs`, `no-base`, `stack-*`, `unknown-release`.
    """
    if form not in FORMS:
        raise unknown_name("unknown-form", form, list(FORMS))
    if choices["volume"] and form not in STARTING:
        raise PaddockError("flag-needs", one="--volume", other=f"--as {'|'.join(STARTING)}")
    wanted = chosen(options, choices, privileged=privileged)
    given = volumes(choices["volume"], wanted.taken, here=False)
    pour(sys.stdout, FORMS[form](replace(wanted, volumes=given)))
    return 0


def image(options: Options, choices: Mapping[str, str], *, json: bool) -> int:
    """Build the image of a target. Returns the exit status.

    Raises PaddockError: `no-builder`, `step-failed`, `package-*`, and as `render` does.
    """
    from checks.known import explained
    from provision.imaging.build import build
    from provision.imaging.builder import builder

    without_server(options)
    began = time.monotonic()
    wanted = chosen(options, choices, privileged=False)
    found, tag = builder(choices["builder"] or "auto"), container.image(wanted)
    out = sys.stderr if json else sys.stdout
    say(out, text("image.title", image=tag, builder=found.kind))
    try:
        build(wanted, found, options, lambda line: say(out, f"  {line}"))
    except PaddockError as error:
        raise explained(error) from None
    seconds = time.monotonic() - began
    if json:
        show_json({"schema": "paddock/image/1", "target": options.target, "image": tag,
                   "release": wanted.release, "builder": found.kind,
                   "seconds": round(seconds, 3)})  # fmt: skip
        return 0
    show(text("image.done", image=tag, time=duration(seconds)))
    start = ["paddock", "render", "--target", options.target, "--as", "run", "--image", tag]
    start += ["--builder", _ENGINES[found.kind]] if found.kind in _ENGINES else []
    show(text("image.next", command=f"{quote(start)} | sh"))
    return 0


def chosen(options: Options, choices: Mapping[str, str], *, privileged: bool) -> Wanted:
    """The stack and the choices, each of them checked. Raises PaddockError."""
    loaded = stack.load(options.stack or stack.stack_file(options.target))
    if not loaded.steps:
        raise PaddockError("no-steps", target=loaded.target)
    one_of("--builder", choices["builder"], ("", "auto", *KINDS))
    secrets = [name.strip() for name in choices.get("secrets", "").split(",") if name.strip()]
    for name in secrets:
        one_of("--secrets", name, tuple(SECRETS))
    machine = choices.get("machine") or MACHINES[0]
    one_of("--machine", machine, tuple(loaded.machines) or MACHINES)
    for flag in ("image", "base", "syntax"):
        value = choices.get(flag, "")
        if value and not _REFERENCE.fullmatch(value):
            raise PaddockError("bad-option", option=f"--{flag}", value=value,
                               wanted=text("wanted.image"))  # fmt: skip
    own = options.stack.name if options.stack else ""
    if not own.isprintable():
        raise PaddockError("bad-option", option="--stack", value=ascii(own),
                           wanted=text("wanted.stack-name"))  # fmt: skip
    return Wanted(
        loaded, options.folder, loaded.release(options.release), machine=machine,
        base=choices["base"], image=choices["image"], cards=cards(choices.get("cards", "")) or (0,),
        classic=choices["builder"] == "classic", syntax=choices.get("syntax", ""),
        engine=_ENGINES.get(choices["builder"], "docker"),
        privileged=privileged, secrets=tuple(secrets), own=own,
        home=_home(choices.get("home", "")),
    )  # fmt: skip


def _home(value: str) -> Path:
    """The folder that the text names; "" is the usual one. Raises PaddockError `bad-option`."""
    if not value:
        return HOME
    if not value.startswith("/") or ":" in value or not value.isprintable():
        raise PaddockError("bad-option", option="--home", value=value, wanted=text("wanted.home"))
    return Path(value)
