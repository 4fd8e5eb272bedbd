"""A target's steps as a Dockerfile of two stages: what compiles stays in the first."""

from __future__ import annotations

from pathlib import Path

from provision import lock
from provision.errors import PaddockError
from provision.facts.pythons import admitted
from provision.forms.commands import complete, packages
from provision.forms.wanted import Wanted
from provision.render import quote, render
from provision.stack import Image, Step

# The steps that an image is made with, and a compiler where they need one; with those of the
# vendor's stack where the image to start from may lack it. The others belong to the machine that
# has the cards.
_INSIDE = ("venv", "packages", "wheel", "install", "given")
_CACHES = ("/var/cache/uv", "/var/cache/pip")
# With a digest of what is bound to a step as its value, that step is done anew where this changes.
BOUND = "BOUND"
# What a build may get in secret, as the shell passes it on to the tool.
SECRETS = {
    "ca": "SSL_CERT_FILE=/run/secrets/ca",
    "index": 'PADDOCK_INDEX_URL="$(cat /run/secrets/index)"',
}


def dockerfile(wanted: Wanted) -> str:
    """The text of the Dockerfile.

    Raises PaddockError `no-base` where no image to start from is known or named.
    """
    base, image = base_of(wanted), _image(wanted)
    inside, left = split(wanted)
    below = [step for step in inside if step.name in image.stack]
    target, settings = wanted.stack.target, wanted.stack.settings
    env = wanted.home / "home" / "data" / "envs" / target
    given = [name for step in inside for name, *_ in packages(step, wanted)]
    return render("forms/Dockerfile.j2", {
        "target": target, "release": wanted.release, "base": base, "home": wanted.home,
        "syntax": wanted.syntax, "classic": wanted.classic, "caches": _CACHES,
        "secrets": {name: SECRETS[name] for name in wanted.secrets},
        "command": wanted.command("dockerfile"),
        "system": image.packages, "given": given, "left": [step.name for step in left],
        "bound": BOUND,
        "stack": _done(below, wanted, given) if below else [],
        "commands": [["--version"], *(_done([step], wanted, given) for step in inside
                                      if step not in below)],
        "labels": _labels(wanted, base),
        "user": image.user or "", "root": image.root,
        "env": env, "plugins": _plugins(env, wanted),
        "health": health(wanted), "entry": entry(wanted) if settings else [],
        "start": ["paddock", "doctor", "--target", target],
    })  # fmt: skip


def health(wanted: Wanted) -> list[str]:
    """The check of a container's health: `doctor`, whose warnings (10) are no illness."""
    doctor = f"paddock doctor --target {quote(wanted.stack.target)}"
    return [*entry(wanted), "/bin/sh", "-c", f"{doctor}; [ $? -le 10 ]"]


def entry(wanted: Wanted) -> list[str]:
    """What starts another command with the variables of the vendor's scripts; [] for none.

    Bash, since some of the scripts are written for it alone (NNAL's looks for its own place).
    """
    if not (scripts := wanted.stack.settings):
        return []
    each = f"for file in {quote(list(scripts))}; do [ ! -r $file ] || . $file; done"
    return ["/bin/bash", "-c", f'{each}; exec "$@"', "paddock"]


def _plugins(env: Path, wanted: Wanted) -> Path | str:
    """Where the plugins are; "" where several Pythons would do."""
    fitting = admitted(wanted.stack.pythons(wanted.release))
    folder = f"lib/python{fitting[0]}/site-packages/paddle_custom_device"
    return env / folder if len(fitting) == 1 else ""


def base_of(wanted: Wanted) -> str:
    """The image to start from. Raises PaddockError `no-base`."""
    known = _image(wanted).base(wanted.release, wanted.machine)
    if not (base := wanted.base or known):
        raise PaddockError("no-base", target=wanted.stack.target, release=wanted.release)
    return base


def split(wanted: Wanted) -> tuple[list[Step], list[Step]]:
    """The steps that an image is made with, and the others. Raises PaddockError `stack-part`."""
    steps = wanted.steps
    needed = {name for step in steps if step.kind in _INSIDE for name in step.needs}
    below = () if holds_stack(wanted) else _image(wanted).stack
    inside = [step for step in steps if step.kind in _INSIDE or step.name in below
              or (step.kind == "toolchain" and step.name in needed)]  # fmt: skip
    for step in inside:
        complete(step, wanted)
    return inside, [step for step in steps if step not in inside]


def holds_stack(wanted: Wanted) -> bool:
    """Whether the image to start from is one that is said to have the vendor's stack."""
    return not wanted.base and wanted.release in _image(wanted).bases


def _image(wanted: Wanted) -> Image:
    return wanted.stack.image or Image(bases={}, source="", seen="")


def _done(steps: list[Step], wanted: Wanted, given: list[str]) -> list[object]:
    """The arguments with which this tool does steps, and verifies them."""
    words = ["provision", "--yes", "--target", wanted.stack.target, "--release", wanted.release]
    names = ",".join(step.name for step in steps)
    return [*words, *(["--deps", wanted.home / "packages"] if given else []), "--only", names]


def _labels(wanted: Wanted, base: str) -> dict[str, str]:
    """OCI's names where there is one, and what the image was pinned to."""
    release = wanted.stack.releases[wanted.release]
    name, _, digest = base.partition("@")
    return {
        "org.opencontainers.image.title": f"paddock {wanted.stack.target}",
        "org.opencontainers.image.version": wanted.release,
        "org.opencontainers.image.description": f"Paddle with the device {wanted.stack.device}",
        "org.opencontainers.image.base.name": name,
        **({"org.opencontainers.image.base.digest": digest} if digest else {}),
        "paddock.framework": " ".join(release.framework),
        **{f"paddock.pin.{pin}": version for pin, version in sorted(release.pins.items())},
        "paddock.lock.sha256": lock.digest(wanted.folder, wanted.release),
    }
