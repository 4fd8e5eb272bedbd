"""Which program builds images here, and how it is called."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from provision.errors import PaddockError
from provision.facts.command import run
from provision.forms.dockerfile import BOUND

KINDS = ("buildkit", "classic", "podman", "buildah")
_LIMIT = 20.0  # seconds for an engine's answer
_OWN_BUILDKIT = 23  # from this version on the client of Docker needs buildx for BuildKit


@dataclass(frozen=True)
class Builder:
    """A program that builds: what it is called with, and what its environment gets."""

    kind: str
    words: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def classic(self) -> bool:
        """Whether it knows neither caches nor secrets."""
        return self.kind == "classic"

    def command(
        self, folder: Path, tag: str, secrets: Mapping[str, Path], bound: str = ""
    ) -> list[str]:
        """The command that builds the folder's Dockerfile; proxies pass through it by name.

        `bound` is a digest of what the Dockerfile binds to its steps, "" where that is nothing.
        """
        command = [*self.words, "--tag", tag]
        if self.kind in ("buildkit", "classic"):
            names = [name for name in os.environ if name.lower().endswith("_proxy")]
            command += [word for name in names for word in ("--build-arg", name)]
        elif bound:  # of what is bound they know the name alone
            command += ["--build-arg", f"{BOUND}={bound}"]
        if not self.classic:
            command += [f"--secret=id={name},src={path}" for name, path in secrets.items()]
        return [*command, str(folder)]


def builder(wanted: str = "auto") -> Builder:
    """The builder of this kind; for `auto` the first that is there, Docker before the others.

    Raises PaddockError `no-builder`, `engine-*` where a client is there and its engine is silent.
    """
    kinds = KINDS if wanted == "auto" else (wanted,)
    found = next(_found(kinds), None)
    if found is None:
        if "classic" in kinds or "buildkit" in kinds:
            _why_silent()
        raise PaddockError("no-builder", kinds=", ".join(kinds))
    return found


def _found(kinds: Iterable[str]) -> Iterator[Builder]:
    """The builders of these kinds that work here."""
    for kind in kinds:
        if kind in ("podman", "buildah"):
            if shutil.which(kind):
                # Their own format has no health check; and unless it is asked to, buildah keeps no
                # layers, and all that a failed build has begun.
                yield Builder(kind, (kind, "build", "--layers", "--force-rm", "--format", "docker"))
        elif (version := _docker()) and (kind == "classic" or _has_buildkit(version)):
            on = "0" if kind == "classic" else "1"
            # Classic: else the container of a step that failed would stay.
            more = ("--force-rm",) if kind == "classic" else ("--progress", "plain")
            yield Builder(kind, ("docker", "build", *more), {"DOCKER_BUILDKIT": on})


def _why_silent() -> None:
    """Raises PaddockError `engine-*` where Docker's client is here and its engine says nothing."""
    from provision.facts.named_container import ask

    if client := shutil.which("docker"):
        ask(client, "version")


def _docker() -> str | None:
    """The version of Docker's client, where its engine answers."""
    both = _answer("docker", "version", "--format", "{{.Client.Version}} {{.Server.Version}}")
    return both.split()[0] if both and len(both.split()) > 1 else None


def _has_buildkit(version: str) -> bool:
    major = re.match(r"\d+", version)
    if major and int(major[0]) < _OWN_BUILDKIT:
        return True
    return _answer("docker", "buildx", "version") is not None


def _answer(*command: str) -> str | None:
    """What a command prints; None where it is missing, fails or hangs."""
    try:
        answer = run(command, _LIMIT)
    except OSError:
        return None
    return answer.out.strip() if answer.status == 0 else None
