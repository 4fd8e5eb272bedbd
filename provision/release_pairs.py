"""What is known about the versions of a release together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from provision import pairs
from provision.stack import Release, Stack

# What the pins of a target are called in the rows of `images/pairs.toml`.
_KINDS = {
    "npu": ("driver+cann", "driver+firmware", "paddle+plugin+cann"),
    "gcu": ("paddle+plugin+tops+driver",),
}
_OURS = ("paddle", "plugin")


class Pair(NamedTuple):
    """What is known of some of a release's versions together."""

    verdict: pairs.Verdict
    versions: dict[str, str]

    @property
    def kind(self) -> str:
        """The names of these versions, as in `driver+cann`."""
        return "+".join(self.versions)

    @property
    def source(self) -> str | None:
        """Where it is known from; None where no list has them together."""
        return self.verdict.row.source if self.verdict.row else None


def known_pairs(stack: Stack, release: Release) -> list[Pair]:
    """What is known of the release's pins together.

    Of those that the best row does not name, what another one says without Paddle and its plugin.
    """
    found = []
    for kind in _KINDS.get(stack.device, ()):
        pair = _pair(kind, _versions(release))
        found += [pair] if pair else []
        if pair and pair.verdict.silent:
            below = {key: one for key, one in pair.versions.items() if key not in _OURS}
            rest = _pair(kind, below)
            found += [rest] if rest and rest.verdict.row else []
    return found


def _pair(kind: str, given: Mapping[str, str]) -> Pair | None:
    """The verdict on those of the versions that a kind has; None where these are no two."""
    names = [name for name in kind.split("+") if name in given]
    versions = {name: given[name] for name in names}
    return Pair(pairs.judge(kind, versions), versions) if len(names) > 1 else None


def _versions(release: Release) -> dict[str, str]:
    """The pins under the names of the pairs: `tops` is TopsRider where the release has that."""
    paddle = next(pin.partition("==")[2] for pin in release.framework if "paddlepaddle==" in pin)
    pins = release.pins
    tops = {"tops": pins["topsrider"]} if "topsrider" in pins else {}
    return {**pins, **tops, "paddle": paddle}
