"""How the tests of the boxes ask: what is printed there, what the tool reads and finds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from checks.registry import CHECKS
from tests.lab.boxes.box import Box, start
from tests.lab.boxes.variants import Variant, variants


def reading(box: Box, command: str) -> dict[str, Any]:
    """What the tool reads of what a command prints in the box."""
    done = box.shell(f"{{ {command}; }} 2>&1 | ./paddock read --json -")
    assert done.returncode == 0, done.stdout + done.stderr
    value = json.loads(done.stdout)
    assert isinstance(value, dict)
    return value


def named(box: Box) -> list[str]:
    """The checks that found something themselves, in the doctor's order."""
    done = box.shell("./paddock doctor --json")
    assert done.returncode in (0, 10, 11, 12), done.stdout + done.stderr
    findings = json.loads(done.stdout)["findings"]
    return [one["id"] for one in findings if one["state"] in ("warning", "error", "unknown")]


def looks_so(box: Box, variant: Variant) -> bool:
    """Whether a person who looks sees this variant there."""
    done = box.shell(f"exec 2>&1; {variant.look}")
    return re.search(variant.sees, done.stdout, re.MULTILINE) is not None


def parameters(vendor: str) -> list[Any]:
    """The variants of a vendor's box, for `pytest.mark.parametrize`."""
    known = {check.id for check in CHECKS}
    reason = "there is no such check yet"
    missing = pytest.mark.xfail(reason=reason, strict=True, raises=AssertionError)
    return [pytest.param(one, id=one.id, marks=() if one.expect in known else missing)
            for one in variants() if one.box == vendor]  # fmt: skip


def prove(variant: Variant, clone: Path) -> None:
    """The box has what the variant says, and the doctor names the cause and nothing else."""
    with start(variant.box, variant.id, clone) as box:
        if not looks_so(box, variant):
            raise LookupError(f"the box does not look like {variant.id}: {variant.look}")
        found = named(box)
        assert found == [variant.expect], f"{', '.join(found) or 'nothing'}: {variant.means}"
