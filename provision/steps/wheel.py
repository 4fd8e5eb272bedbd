"""Kind `wheel`: a wheel compiled from the target's own sources by a recipe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from provision.stack import Step
from provision.steps.base import Context, NotSo
from provision.tools import uv


class Wheel:
    """Built against the Paddle of the environment; the build tree is kept between runs."""

    template = "steps/wheel.sh.j2"
    changes_host = False
    clears = False
    lacks = "internal"

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """Source, build tree, destination, and the Paddle to build for."""
        return {
            "uv": uv(),
            "env": context.site.env,
            "python": context.site.python,
            "paddle_version": paddle_version(context),
            "source": self._source(step, context),
            "build": context.site.builds / step.name,
            "out": context.site.wheels / step.name,
        }

    def inputs(self, step: Step, context: Context) -> Iterable[Path]:
        """Every source file."""
        folder = self._source(step, context)
        return (
            p for p in sorted(folder.rglob("*")) if p.is_file() and "__pycache__" not in p.parts
        )

    def verify(self, step: Step, context: Context) -> list[Path]:
        """Just one wheel."""
        found = sorted((context.site.wheels / step.name).glob("*.whl"))
        if len(found) != 1:
            raise NotSo(f"{context.site.wheels / step.name}/*.whl")
        return found

    def blocked(self, step: Step, context: Context) -> str | None:
        """Never: the steps it needs say what is missing."""
        return None

    def _source(self, step: Step, context: Context) -> Path:
        return context.folder / (step.source or "")


def paddle_version(context: Context) -> str:
    """The paddlepaddle version that the release pins."""
    pins = context.stack.releases[context.release].framework
    return next(pin.partition("==")[2] for pin in pins if pin.startswith("paddlepaddle=="))
