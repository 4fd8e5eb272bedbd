"""A seal claims no more than files can show: not a loaded module, nor what dpkg has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from provision.engine import Options, holding, put_seal
from provision.plan import Planned
from provision.steps import toolchain
from provision.steps.base import Context
from tests.vendor.conftest import Make


def satisfied(context: Context, *kinds: str) -> list[Planned]:
    """A plan in which all steps of these kinds hold."""
    steps = [step for step in context.stack.steps if step.kind in kinds]
    assert {step.kind for step in steps} == set(kinds)
    return [Planned(step, "satisfied", "", "", step.name) for step in steps]


@pytest.mark.parametrize(
    ("target", "kind"),
    [("ascend910b", "card"), ("ascend910b", "system"), ("ascend910b", "account"),
     ("ascend910b", "loaded"), ("s60", "debs"), ("s60", "loaded")],
)  # fmt: skip
def test_what_no_file_shows_is_never_sealed(
    make: Make, monkeypatch: pytest.MonkeyPatch, target: str, kind: str
) -> None:
    context, options = make(target), Options(target)
    planned = satisfied(context, kind)
    monkeypatch.setattr(type(planned[0].kind), "verify", lambda self, step, context: [])
    context.site.state.mkdir(parents=True)
    put_seal(context, options, planned)
    assert holding(options) is None


@pytest.fixture
def compiler(make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A compiler that somebody else installed: no journal knows of it."""
    file = tmp_path / "c++"
    file.touch()
    monkeypatch.setattr(toolchain, "compiler", lambda: file if file.exists() else None)
    return file


def sealed(context: Context) -> Options:
    options = Options(context.stack.target)
    context.site.state.mkdir(parents=True, exist_ok=True)
    put_seal(context, options, satisfied(context, "toolchain"))
    return options


def test_what_somebody_else_installed_is_watched_too(make: Make, compiler: Path) -> None:
    options = sealed(make())
    assert holding(options) == 1
    compiler.unlink()
    assert holding(options) is None


def test_what_has_gone_meanwhile_is_not_sealed(make: Make, compiler: Path) -> None:
    compiler.unlink()
    assert holding(sealed(make())) is None


def test_another_kernel_has_other_modules(
    make: Make, compiler: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = sealed(make())
    own = os.uname()
    other = os.uname_result((own.sysname, own.nodename, "0.0.1-other", own.version, own.machine))
    monkeypatch.setattr(os, "uname", lambda: other)
    assert holding(options) is None
