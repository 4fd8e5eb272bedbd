"""A context of a real target whose folders are a test's own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from provision.engine import Options, runner
from provision.facts import kernel
from provision.paths import IMAGES
from provision.progress import Plain
from provision.site import Site
from provision.stack import load
from provision.steps.base import Context
from provision.undo import undo

Make = Callable[..., Context]


def undone(context: Context) -> list[str]:
    """Undo all, as with consent; progress goes to standard error."""
    made = runner(context, Options(context.stack.target), Plain(sys.stderr))
    return undo(made, with_packages=True)


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A context of a target and a release, with the folder `deps` below the test's own."""
    monkeypatch.setenv("PADDOCK_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(kernel, "headers", lambda root, release: True)
    folder = tmp_path / "deps"
    folder.mkdir()

    def context(target: str = "ascend910b", release: str = "", **more: object) -> Context:
        stack = load(IMAGES / target / "stack.toml")
        made = Context(stack, IMAGES / target, stack.release(release or None), Site(target), None,
                       "cp310", folder, arch="x86_64")  # fmt: skip
        return replace(made, **more)  # type: ignore[arg-type]

    return context
