"""How long an installer may print nothing is data, and a run says so when it is longer."""

from __future__ import annotations

import io
import time

import pytest
from msgspec.structs import replace

from provision.engine import Options, runner
from provision.progress import Plain
from provision.render import render
from provision.steps import KINDS
from provision.steps.vendor import Vendor
from provision.vendor import deps
from provision.vendor.rows import patience
from tests.vendor.conftest import Make

INSTALLER = """#!/bin/bash
[ "$1" != --check ] || exit 0
printf 'Continue? [Y/n] '
sleep 1.4
"""


@pytest.mark.parametrize("target", ["ascend910b", "s60"])
def test_each_installer_has_a_time(make: Make, target: str) -> None:
    context = make(target)
    lasting = [step for step in context.stack.steps if KINDS[step.kind].leaves_halves]
    times = {KINDS[step.kind].quiet(step, context) for step in lasting}
    assert lasting and times == {patience().quiet}
    assert 0 < patience().quiet < patience().limit and patience().source


def test_it_is_told_with_the_question_that_it_waits_at(make: Make) -> None:
    context = make()
    row = replace(context.stack.packages["toolkit"], quiet=1)
    packages = {**context.stack.packages, "toolkit": row}
    context = make(stack=replace(context.stack, packages=packages))
    assert context.deps
    (context.deps / (deps.wanted(row, context) or "")).write_text(INSTALLER)
    step = context.step("host/toolkit")
    script = render(Vendor.template, Vendor().values(step, context))
    shown, began = io.StringIO(), time.monotonic()
    made = runner(context, Options("ascend910b"), Plain(shown))
    assert made.script(step, script).status == 0
    assert time.monotonic() - began > 1.4, "it was let finish"
    (line,) = shown.getvalue().splitlines()
    assert "host/toolkit: no output for 1 s" in line and "Continue? [Y/n]" in line
