"""How the tests of the boxes ask: what is printed there, what the tool reads and finds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.lab.boxes.box import Box, start
from tests.lab.boxes.variants import Variant, variants


def reading(box: Box, command: str) -> dict[str, Any]:
    """What the tool reads of what a command prints in the box."""
    done = box.shell(f"{{ {command}; }} 2>&1 | ./paddock read --json -")
    assert done.returncode == 0, done.stdout + done.stderr
    value = json.loads(done.stdout)
    assert isinstance(value, dict)
    return value


def named(box: Box, arguments: str = "") -> list[str]:
    """The checks that found something themselves, in the doctor's order."""
    done = box.shell(f"./paddock doctor --json {arguments}")
    assert done.returncode in (0, 10, 11, 12), done.stdout + done.stderr
    findings = json.loads(done.stdout)["findings"]
    return [one["id"] for one in findings if one["state"] in ("warning", "error", "unknown")]


def looks_so(box: Box, variant: Variant) -> bool:
    """Whether a person who looks sees this variant there."""
    done = box.shell(f"exec 2>&1; {variant.look}")
    return re.search(variant.sees, done.stdout, re.MULTILINE) is not None


def parameters(vendor: str) -> list[Any]:
    """The variants of a vendor's box, for `pytest.mark.parametrize`."""
    return [pytest.param(one, id=one.id) for one in variants() if one.box == vendor]


def prove(variant: Variant, clone: Path) -> None:
    """The box has what the variant says, and the doctor names the cause and nothing else."""
    with start(variant.box, variant.id, clone) as box:
        assert looks_so(box, variant), f"the box does not look so: {variant.look}"
        found = named(box, variant.doctor)
        assert found == [variant.expect], f"{', '.join(found) or 'nothing'}: {variant.means}"
