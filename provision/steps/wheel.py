"""Kind `wheel`: a wheel compiled from the target's own sources by a recipe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from provision.errors import PaddockError
from provision.stack import Step
from provision.steps.base import Context, Kind, NotSo


class Wheel(Kind):
    """Built against the Paddle of the environment; the build tree is kept between runs."""

    template = "steps/wheel.sh.j2"

    def values(self, step: Step, context: Context) -> Mapping[str, object]:
        """Source, build tree, destination, and the Paddle to build for.

        Raises PaddockError `stack-part` where there is no source.
        """
        return {
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

    def _source(self, step: Step, context: Context) -> Path:
        assert step.source is not None  # noqa: S101 - the stack's reader checks it
        recipe = context.folder / step.source / "pyproject.toml"
        if not recipe.is_file():
            raise PaddockError("stack-part", step=step.name, file=recipe)
        return recipe.parent


def paddle_version(context: Context) -> str:
    """The paddlepaddle version that the release pins."""
    pins = context.stack.releases[context.release].framework
    return next(pin.partition("==")[2] for pin in pins if pin.startswith("paddlepaddle=="))
