"""Accelerators in a sysfs of our own: matched by class and ids, unknown ones never guessed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from provision.facts import pci


def add(root: Path, slot: str, ids: str, kind: str = "120000", **files: str) -> None:
    """A device as the kernel shows it, `ids` as vendor:device."""
    folder = root / "sys/bus/pci/devices" / slot
    folder.mkdir(parents=True)
    vendor, device = ids.split(":")
    content = {"vendor": f"0x{vendor}", "device": f"0x{device}", "class": f"0x{kind}"} | files
    for name, value in content.items():
        (folder / name).write_text(value + "\n")


def test_a_machine_without_accelerator_reads_no_catalogue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tmp_path, "0000:00:02.0", "8086:1234", "030000")
    monkeypatch.setattr(pci, "catalogue", lambda: pytest.fail("the catalogue was read"))
    assert pci.devices(tmp_path) == []
    assert pci.devices(tmp_path / "no-sysfs-here") == []


@pytest.mark.parametrize("kind", ["020000", "030000", "010802"])
def test_other_devices_of_a_known_vendor_are_none(tmp_path: Path, kind: str) -> None:
    add(tmp_path, "0000:07:00.0", "19e5:d802", kind)
    assert pci.devices(tmp_path) == []


def test_an_accelerator_of_another_vendor_is_none(tmp_path: Path) -> None:
    add(tmp_path, "0000:07:00.0", "1002:d802")
    assert pci.devices(tmp_path) == []


def test_what_is_known_of_a_card(tmp_path: Path) -> None:
    more = {"subsystem_vendor": "0x19e5", "subsystem_device": "0x3002", "numa_node": "1"}
    add(tmp_path, "0000:29:00.0", "19e5:d802", **more)
    add(tmp_path, "0000:28:00.0", "19E5:D802", numa_node="-1")
    second, first = pci.devices(tmp_path)[::-1]
    assert (first.slot, second.slot) == ("0000:28:00.0", "0000:29:00.0")
    assert (second.name, second.board) == ("Ascend 910B", "Atlas 800I A2")
    assert (second.subsystem, second.numa_node) == ("19e5:3002", 1)
    assert (first.subsystem, first.numa_node, first.board) == (None, None, None)


@pytest.mark.parametrize("vendor", ["19e5", "20c6", "203f", "20e9", "1e36", "1ea0"])
def test_an_unknown_model_of_a_known_vendor_stays_unknown(tmp_path: Path, vendor: str) -> None:
    add(tmp_path, "0000:01:00.0", f"{vendor}:beef")
    (card,) = pci.devices(tmp_path)
    assert (card.name, card.generation, card.target) == (None, None, None)
    assert card.vendor_name


@pytest.mark.parametrize("broken", ["", "0x", "0xzzzz", "19e5", "0x19e51", "\N{SNOWMAN}"])
def test_a_damaged_id_matches_nothing(tmp_path: Path, broken: str) -> None:
    add(tmp_path, "0000:01:00.0", "1e36:c035", device=broken)
    assert all(card.name is None for card in pci.devices(tmp_path))


@pytest.mark.parametrize(
    ("ids", "target"),
    [
        ([], "loopback"),
        (["1e36:c035"], "s60"),
        (["19e5:d802", "19e5:d802"], "ascend910b"),
        (["203f:d802"], "ascend910b"),
        (["1e36:c033"], None),
        (["19e5:d801"], None),
        (["19e5:beef"], None),
        (["19e5:d802", "19e5:d801"], "ascend910b"),
        (["19e5:d802", "1e36:c035"], None),
    ],
)
def test_the_target_for_the_cards(tmp_path: Path, ids: list[str], target: str | None) -> None:
    for number, pair in enumerate(ids):
        add(tmp_path, f"0000:{number:02x}:00.0", pair)
    assert pci.target_for(pci.devices(tmp_path)) == target


def test_every_row_of_the_catalogue_is_sound() -> None:
    known = pci.catalogue()
    vendors = {vendor.id for vendor in known.vendors}
    pairs = [(model.vendor, model.device) for model in known.models]
    assert len(pairs) == len(set(pairs))
    for model in known.models:
        assert model.vendor in vendors
        assert len(model.device) == 4 and set(model.device) <= set("0123456789abcdef")
        assert all(msgspec.structs.asdict(model)[name] for name in ("name", "source", "seen"))
