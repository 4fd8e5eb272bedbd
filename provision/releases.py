"""`paddock targets`: every target with its releases, and what is known about each."""

from __future__ import annotations

import os
from collections.abc import Iterator

from provision.console import show, show_json
from provision.paths import IMAGES, targets
from provision.release_pairs import Pair, known_pairs
from provision.stack import Release, Stack, load
from provision.words import text


def tell(*, json: bool) -> int:
    """Show the list. Returns the exit status."""
    stacks = [load(IMAGES / name / "stack.toml") for name in targets()]
    if json:
        show_json({"schema": "paddock/targets/1", "targets": [_target(one) for one in stacks]})
        return 0
    for stack in stacks:
        for line in _lines(stack):
            show(line)
    return 0


def _lines(stack: Stack) -> Iterator[str]:
    """A target as lines of text."""
    yield text("targets.target", name=stack.target, device=stack.device, python=stack.python)
    for name, release in stack.releases.items():
        yield text("targets.release", name=name, mark=_mark(stack, name))
        yield from (f"      {line}" for line in _release_lines(stack, name, release))


def _mark(stack: Stack, name: str) -> str:
    """What stands behind the name of a release: that it is the default, and why."""
    if name != stack.default_release:
        return ""
    reason = _because(stack)
    return text("targets.default-because", reason=reason) if reason else text("targets.default")


def _because(stack: Stack) -> str:
    return text(f"default.{stack.default_because}") if stack.default_because else ""


def _release_lines(stack: Stack, name: str, release: Release) -> Iterator[str]:
    pins = ", ".join(f"{key} {value}" for key, value in release.pins.items())
    packages = ", ".join([*release.framework, *release.paddlenlp[:1]])
    yield "; ".join(filter(None, [packages, pins]))
    for image in dict.fromkeys(_images(stack, name).values()):
        yield text("targets.image-bare" if _is_bare(stack, name) else "targets.image", image=image)
    if release.plugin_ref:
        yield text("targets.plugin-ref", ref=release.plugin_ref)
    yield text("targets.source", source=release.source, seen=release.seen)
    yield from map(_told, known_pairs(stack, release))
    yield text(f"targets.tried.{release.tried}")
    yield from _defects(release)


def _told(pair: Pair) -> str:
    """A verdict as a line: what a row does not name is not said to be documented."""
    named = pair.verdict.row.versions if pair.verdict.row else pair.versions
    shown = ", ".join(f"{key} {one}" for key, one in pair.versions.items() if key in named)
    line = text(f"targets.pair.{pair.verdict.state}", pair=shown, source=pair.source)
    silent = ", ".join(pair.verdict.silent)
    return text("targets.pair.silent", line=line, names=silent) if silent else line


def _images(stack: Stack, name: str) -> dict[str, str]:
    """The image to start from, by processor, where one is known."""
    machines = stack.machines or [os.uname().machine]
    found = {one: stack.image.base(name, one) for one in machines} if stack.image else {}
    return {machine: image for machine, image in found.items() if image}


def _is_bare(stack: Stack, name: str) -> bool:
    """Whether the vendor's stack has to be installed in the image."""
    return stack.image is not None and name in stack.image.bare


def _defects(release: Release) -> list[str]:
    """The sentences of what is known to be wrong with a release."""
    names = [*([release.unlocked] if release.unlocked else []), *release.defects]
    return [text(f"defect.{one}") for one in names]


def _target(stack: Stack) -> dict[str, object]:
    """A target as JSON values."""
    return {
        "target": stack.target, "device": stack.device, "python": stack.python,
        "default_release": stack.default_release, "default_because": _because(stack),
        "steps": [step.name for step in stack.steps],
        "releases": [_release(stack, *pair) for pair in stack.releases.items()],
    }  # fmt: skip


def _release(stack: Stack, name: str, release: Release) -> dict[str, object]:
    return {
        "release": name, "packages": [*release.framework, *release.paddlenlp],
        "pins": release.pins, "plugin_ref": release.plugin_ref or None,
        "images": _images(stack, name), "image_has_stack": not _is_bare(stack, name),
        "source": release.source, "seen": release.seen,
        "pairs": [{"kind": one.kind, "state": one.verdict.state, "source": one.source,
                   "silent": list(one.verdict.silent)} for one in known_pairs(stack, release)],
        "tried": release.tried, "locked": not release.unlocked, "defects": _defects(release),
    }  # fmt: skip
