"""A target's steps as a Dockerfile of two stages: what compiles stays in the first."""

from __future__ import annotations

import hashlib

from provision.errors import PaddockError
from provision.forms.commands import complete, packages
from provision.forms.wanted import Wanted
from provision.render import quote, render
from provision.stack import Image, Step

# The steps that an image is made with, and a compiler where they need one. The others belong to the
# machine that has the cards, or what they install is in the image to start from.
_INSIDE = ("venv", "packages", "wheel", "install", "given")
_CACHES = ("/var/cache/uv", "/var/cache/pip")
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
    target = wanted.stack.target
    given = [name for step in inside for name, *_ in packages(step, wanted)]
    return render("forms/Dockerfile.j2", {
        "target": target, "release": wanted.release, "base": base, "home": wanted.home,
        "syntax": wanted.syntax, "classic": wanted.classic, "caches": _CACHES,
        "secrets": {name: SECRETS[name] for name in wanted.secrets},
        "command": wanted.command("dockerfile"),
        "system": image.packages, "given": given, "left": [step.name for step in left],
        "commands": [["--version"], *(_step(step, wanted, given) for step in inside)],
        "labels": _labels(wanted, base),
        "user": image.user or "", "root": image.root,
        "env": wanted.home / "home" / "data" / "envs" / target,
        "health": health(wanted),
        "start": ["paddock", "doctor", "--target", target],
    })  # fmt: skip


def health(wanted: Wanted) -> list[str]:
    """The check of a container's health: `doctor`, whose warnings (10) are no illness."""
    doctor = f"paddock doctor --target {quote(wanted.stack.target)}"
    return ["/bin/sh", "-c", f"{doctor}; [ $? -le 10 ]"]


def base_of(wanted: Wanted) -> str:
    """The image to start from. Raises PaddockError `no-base`."""
    base = wanted.base or _image(wanted).bases.get(wanted.release, "")
    if not base:
        raise PaddockError("no-base", target=wanted.stack.target, release=wanted.release)
    return base.replace("{machine}", wanted.machine)


def split(wanted: Wanted) -> tuple[list[Step], list[Step]]:
    """The steps that an image is made with, and the others. Raises PaddockError `stack-part`."""
    steps = wanted.stack.steps
    needed = {name for step in steps if step.kind in _INSIDE for name in step.needs}
    inside = [step for step in steps if step.kind in _INSIDE
              or (step.kind == "toolchain" and step.name in needed)]  # fmt: skip
    for step in inside:
        complete(step, wanted)
    return inside, [step for step in steps if step not in inside]


def _image(wanted: Wanted) -> Image:
    return wanted.stack.image or Image(bases={}, source="", seen="")


def _step(step: Step, wanted: Wanted, given: list[str]) -> list[object]:
    """The arguments with which this tool does a step, and verifies it."""
    words = ["provision", "--yes", "--target", wanted.stack.target, "--release", wanted.release]
    return [*words, *(["--deps", wanted.home / "packages"] if given else []), "--only", step.name]


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
        "paddock.lock.sha256": _lock_digest(wanted),
    }


def _lock_digest(wanted: Wanted) -> str:
    """One digest of all lock files of the release."""
    digest = hashlib.sha256()
    for path in sorted((wanted.folder / "locks" / wanted.release).glob("*.txt")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
