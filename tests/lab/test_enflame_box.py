"""A box with eight Enflame S60: it is taken for one, and what breaks it is named first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.boxes.box import Box
from tests.lab.boxes.proof import looks_so, named, parameters, prove, reading
from tests.lab.boxes.variants import Variant, variants

pytestmark = pytest.mark.slow
VENDOR = "s60"


def test_the_bus_is_read(healthy: Box) -> None:
    """The accelerators, and neither the network card nor the display."""
    seen = reading(healthy, "lspci -Dnn")
    ids = [f"{one['vendor']}:{one['device']}" for one in seen["devices"] if one["accelerator"]]
    assert ids == ["1e36:c035"] * 8
    assert len(seen["devices"]) == 10


def test_efsmi_is_read(healthy: Box) -> None:
    told = reading(healthy, "efsmi")
    assert (told["kind"], told["driver_version"]) == ("efsmi", "1.5.0.5")
    assert [card["memory_total_mb"] for card in told["cards"]] == [42976] * 8
    asked = reading(healthy, "efsmi -q")["devices"]
    assert [(one["bus_id"], one["health"]) for one in asked][7] == ("0000:36:00.0", "True")


def test_the_packages_are_installed(healthy: Box) -> None:
    """By the real dpkg, from packages that depend on each other."""
    listed = reading(healthy, "dpkg -l")["packages"]
    states = {one["name"]: one["state"] for one in listed}
    wanted = ("topsfactor", "tops-sdk", "eccl", "topsaten", "enflame-container-toolkit")
    assert [states[name] for name in wanted] == ["ii"] * 5


def test_the_healthy_box_looks_like_none_of_the_broken(healthy: Box) -> None:
    own = [one for one in variants() if one.box == VENDOR]
    assert [one.id for one in own if looks_so(healthy, one)] == []


@pytest.mark.parametrize("arguments", ["", "--env /opt/paddle"])
def test_the_healthy_box_is_found_healthy(healthy: Box, arguments: str) -> None:
    assert named(healthy, arguments) == []


@pytest.mark.parametrize("variant", parameters(VENDOR))
def test_the_cause_is_named_first(variant: Variant, clone: Path) -> None:
    prove(variant, clone)
