"""A plugin in host memory is named where it serves a card's device type, and only there."""

from __future__ import annotations

import msgspec
import pytest

from checks.machine.plugin_stand_in import CHECK
from provision.facts.snapshot import Facts
from tests.doctor.values import PLUGIN


@pytest.mark.parametrize(
    ("device", "memory", "state"),
    [("npu", ["npu"], "warning"), ("gcu", ["npu"], "ok"), ("gcu", [], "ok")],
)
def test_the_stand_in_is_named(healthy: Facts, device: str, memory: list[str], state: str) -> None:
    plugin = msgspec.structs.replace(PLUGIN, host_memory=memory)
    facts = msgspec.structs.replace(healthy, device=device, plugin=plugin)
    finding = msgspec.structs.replace(CHECK.run(facts), id=CHECK.id)
    assert finding.state == state
    assert ("no card computes" in finding.part("what")) is (state == "warning")


def test_loopback_is_no_stand_in() -> None:
    assert "loopback" not in CHECK.devices
