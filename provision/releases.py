"""`paddock targets`: every target with its releases, and what is known about each."""

from __future__ import annotations

from collections.abc import Iterator

from provision import pairs
from provision.console import show, show_json
from provision.paths import IMAGES, targets
from provision.stack import Release, Stack, load
from provision.words import text

# What the pins of a target are called in the rows of `images/pairs.toml`.
_KINDS = {
    "npu": ("driver+cann", "driver+firmware", "paddle+plugin+cann"),
    "gcu": ("paddle+plugin+tops+driver",),
}


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


def known_pairs(stack: Stack, release: Release) -> list[pairs.Verdict]:
    """What is known of the release's pins together."""
    versions = _versions(release)
    verdicts = [pairs.judge(kind, versions) for kind in _KINDS.get(stack.device, ())
                if len(versions.keys() & set(kind.split("+"))) > 1]  # fmt: skip
    return [one for one in verdicts if one.row]


def _versions(release: Release) -> dict[str, str | None]:
    """The pins under the names of the pairs: `tops` is TopsRider where the release has that."""
    paddle = next(pin.partition("==")[2] for pin in release.framework if "paddlepaddle==" in pin)
    pins = release.pins
    tops = {"tops": pins["topsrider"]} if "topsrider" in pins else {}
    return {**pins, **tops, "paddle": paddle}


def _lines(stack: Stack) -> Iterator[str]:
    """A target as lines of text."""
    yield text("targets.target", name=stack.target, device=stack.device, python=stack.python)
    for name, release in stack.releases.items():
        mark = text("targets.default") if name == stack.default_release else ""
        pins = ", ".join(f"{key} {value}" for key, value in release.pins.items())
        packages = ", ".join([*release.framework, *release.paddlenlp[:1]])
        yield text("targets.release", name=name, mark=mark)
        yield f"      {'; '.join(filter(None, [packages, pins]))}"
        yield text("targets.source", source=release.source, seen=release.seen)
        for verdict in known_pairs(stack, release):
            yield f"      {_pair(verdict)}"
        yield f"      {text(f'targets.tried.{release.tried}')}"
        yield from (f"      {text(f'defect.{one}')}" for one in release.defects)


def _pair(verdict: pairs.Verdict) -> str:
    row = verdict.row
    assert row is not None  # noqa: S101 - only those with a row are kept
    return text(f"targets.pair.{verdict.state}", pair=row.kind, source=row.source)


def _target(stack: Stack) -> dict[str, object]:
    """A target as JSON values."""
    return {
        "target": stack.target, "device": stack.device, "python": stack.python,
        "default_release": stack.default_release, "steps": [step.name for step in stack.steps],
        "releases": [_release(stack, *pair) for pair in stack.releases.items()],
    }  # fmt: skip


def _release(stack: Stack, name: str, release: Release) -> dict[str, object]:
    verdicts = known_pairs(stack, release)
    return {
        "release": name, "packages": [*release.framework, *release.paddlenlp],
        "pins": release.pins, "source": release.source, "seen": release.seen,
        "pairs": [{"kind": one.row.kind, "state": one.state, "source": one.row.source}
                  for one in verdicts if one.row],
        "tried": release.tried, "defects": [text(f"defect.{one}") for one in release.defects],
    }  # fmt: skip
