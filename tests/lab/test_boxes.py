"""The vendors' boxes are what they are taken for, and the doctor names what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.lab.boxes.box import Box, start
from tests.lab.boxes.variants import Variant, variants

pytestmark = pytest.mark.slow
VARIANTS = variants()
CARDS = {"ascend910b": "19e5:d802", "s60": "1e36:c035"}


def reading(box: Box, command: str) -> dict[str, Any]:
    """What the tool reads of what a command prints in the box."""
    done = box.shell(f"{{ {command}; }} 2>&1 | ./paddock read --json -")
    assert done.returncode == 0, done.stdout + done.stderr
    value = json.loads(done.stdout)
    assert isinstance(value, dict)
    return value


@pytest.fixture(scope="module", params=sorted(CARDS))
def healthy(request: pytest.FixtureRequest, clone: Path) -> Any:
    with start(request.param, checkout=clone) as box:
        yield request.param, box


def test_the_bus_is_seen_by_lspci_and_by_the_tool(healthy: tuple[str, Box]) -> None:
    vendor, box = healthy
    seen = reading(box, "lspci -Dnn")
    ids = [f"{one['vendor']}:{one['device']}" for one in seen["devices"] if one["accelerator"]]
    assert ids == [CARDS[vendor]] * 8
    assert box.shell("lspci -vv | grep -c 'LnkSta:.*Width x16'").stdout.strip() == "9"


def test_the_vendors_tool_is_understood(healthy: tuple[str, Box]) -> None:
    vendor, box = healthy
    told = reading(box, "npu-smi info" if vendor == "ascend910b" else "efsmi")
    assert told["kind"] == ("npu-smi info" if vendor == "ascend910b" else "efsmi")
    assert len(told["cards"]) == 8
    assert told["driver_version"] == ("24.1.0" if vendor == "ascend910b" else "1.5.0.5")


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one.id)
def test_a_cause_is_named_first(variant: Variant, clone: Path) -> None:
    with start(variant.box, variant.id, clone) as box:
        done = box.shell("./paddock doctor --json")
        assert box.shell("cat /var/lib/lab/state.json").stdout
    assert done.returncode in (0, 10, 11, 12), done.stdout + done.stderr
