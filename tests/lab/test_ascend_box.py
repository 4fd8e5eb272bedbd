"""A box with eight Ascend 910B: it is taken for one, and what breaks it is named first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.boxes.box import Box
from tests.lab.boxes.proof import looks_so, named, parameters, prove, reading
from tests.lab.boxes.variants import Variant, variants

pytestmark = pytest.mark.slow
VENDOR = "ascend910b"
TOPICS = ("board", "memory", "health", "usages", "common", "temp", "power", "ecc")


def test_the_bus_is_read(healthy: Box) -> None:
    """The accelerators, and neither the network card nor the display of the same vendor."""
    seen = reading(healthy, "lspci -Dnn")
    ids = [f"{one['vendor']}:{one['device']}" for one in seen["devices"] if one["accelerator"]]
    assert ids == ["19e5:d802"] * 8
    assert len(seen["devices"]) == 10


def test_npu_smi_is_read(healthy: Box) -> None:
    told = reading(healthy, "npu-smi info")
    assert (told["kind"], told["driver_version"]) == ("npu-smi info", "24.1.0")
    assert [card["name"] for card in told["cards"]] == ["910B3"] * 8
    assert told["cards"][3]["chips"][0]["hbm_total_mb"] == 65536
    assert len(reading(healthy, "npu-smi info -m")["chips"]) == 16
    assert reading(healthy, "npu-smi info -l")["kind"] == "npu-smi info -l"


@pytest.mark.parametrize("topic", TOPICS)
def test_topics_of_npu_smi_are_read(healthy: Box, topic: str) -> None:
    told = reading(healthy, f"npu-smi info -t {topic} -i 3")
    assert told["kind"] == f"npu-smi info -t {topic}"
    assert told["blocks"][0]["values"]


def test_what_is_not_there_is_an_error(healthy: Box) -> None:
    assert reading(healthy, "npu-smi info -t board -i 9")["kind"] == "npu-smi error"


def test_the_healthy_box_looks_like_none_of_the_broken(healthy: Box) -> None:
    own = [one for one in variants() if one.box == VENDOR]
    assert [one.id for one in own if looks_so(healthy, one)] == []


@pytest.mark.parametrize("arguments", ["", "--env /opt/paddle"])
def test_the_healthy_box_is_found_healthy(healthy: Box, arguments: str) -> None:
    assert named(healthy, arguments) == []


@pytest.mark.parametrize("variant", parameters(VENDOR))
def test_the_cause_is_named_first(variant: Variant, clone: Path) -> None:
    prove(variant, clone)
