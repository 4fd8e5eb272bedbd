"""Accelerators in a sysfs of our own: matched by class and ids, unknown ones never guessed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provision.arguments import found_target
from provision.errors import PaddockError
from provision.facts import pci, pci_sysfs, pci_text

SLOTS = ["0000:5a:00.0", "0000:19:00.0", "0000:49:00.0", "0000:39:00.0",
         "0000:da:00.0", "0000:99:00.0", "0000:b8:00.0", "0000:c8:00.0"]  # fmt: skip
LINK = {"current_link_speed": "16.0 GT/s PCIe", "max_link_speed": "16.0 GT/s PCIe",
        "current_link_width": "16", "max_link_width": "16"}  # fmt: skip


def add(root: Path, slot: str, ids: str, kind: str = "120000", **files: str) -> Path:
    """A device as the kernel shows it, `ids` as vendor:device."""
    folder = root / "sys/bus/pci/devices" / slot
    folder.mkdir(parents=True)
    vendor, device = ids.split(":")
    content = {"vendor": f"0x{vendor}", "device": f"0x{device}", "class": f"0x{kind}"} | files
    for name, value in content.items():
        (folder / name).write_text(value + "\n")
    return folder


def link(folder: Path, name: str, place: str) -> None:
    """A symbolic link of sysfs; what it leads to need not be there."""
    (folder / name).symlink_to(Path("../../../..") / place)


def a2_box(root: Path, slots: list[str]) -> None:
    """A server with eight 910B3, its network card, its management chip and a disk."""
    for number, slot in enumerate(slots):
        more = {"subsystem_vendor": "0x19e5", "subsystem_device": "0x3004", "revision": "0x20",
                "numa_node": str(number // 2), "enable": "1", "sriov_numvfs": "0"}  # fmt: skip
        folder = add(root, slot, "19e5:d802", **more, **LINK)
        link(folder, "driver", "bus/pci/drivers/devdrv_device_driver")
    add(root, "0000:3b:00.0", "19e5:0222", "020000", **LINK)
    add(root, "0000:02:00.0", "19e5:1711", "030000")
    add(root, "0000:81:00.0", "19e5:3714", "010802", **LINK)


def test_a_machine_without_accelerator_reads_no_catalogue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tmp_path, "0000:00:02.0", "8086:1234", "030000")
    monkeypatch.setattr(pci, "catalogue", lambda: pytest.fail("the catalogue was read"))
    assert pci.devices(tmp_path) == []
    assert pci.devices(tmp_path / "no-sysfs-here") == []


@pytest.mark.parametrize("kind", ["020000", "030000", "010802", "120100"])
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


@pytest.mark.parametrize("ids", [["1e36:c033"], ["19e5:d801"], ["19e5:d802", "1e36:c035"]])
def test_auto_never_falls_back_from_cards_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ids: list[str]
) -> None:
    for number, pair in enumerate(ids):
        add(tmp_path, f"0000:{number:02x}:00.0", pair)
    cards = pci.devices(tmp_path)
    monkeypatch.setattr(pci_text, "collect", lambda: cards)
    with pytest.raises(PaddockError) as raised:
        found_target()
    assert raised.value.code == "no-target-for-card"
    assert all(str(card.name) in str(raised.value) for card in cards)


def test_all_that_sysfs_tells_of_a_full_box(tmp_path: Path) -> None:
    a2_box(tmp_path, SLOTS)
    cards = pci.devices(tmp_path)
    assert [card.slot for card in cards] == sorted(SLOTS)
    assert {(card.name, card.board) for card in cards} == {("Ascend 910B", "Atlas 800I A2")}
    first = next(card for card in cards if card.slot == SLOTS[2])
    assert msgspec.structs.astuple(first)[-9:] == (
        16.0, 16, 16.0, 16, "devdrv_device_driver", None, 0, "20", True,
    )  # fmt: skip
    assert first.numa_node == 1


def test_a_missing_card_is_a_gap_among_the_slots(tmp_path: Path) -> None:
    a2_box(tmp_path, [slot for slot in SLOTS if slot != "0000:c8:00.0"])
    assert set(SLOTS) - {card.slot for card in pci.devices(tmp_path)} == {"0000:c8:00.0"}


def test_half_the_lanes_of_s60_cards(tmp_path: Path) -> None:
    half = LINK | {"current_link_width": "8", "current_link_speed": "8.0 GT/s PCIe"}
    for number in range(8):
        add(tmp_path, f"0000:{number + 1:02x}:00.0", "1e36:c035", **half)
    cards = pci.devices(tmp_path)
    links = {(card.link_speed_gt, card.link_width, card.max_link_speed_gt, card.max_link_width)
             for card in cards}  # fmt: skip
    assert links == {(8.0, 8, 16.0, 16)}
    assert (len(cards), pci.target_for(cards)) == (8, "s60")


def test_virtual_functions_and_the_card_they_are_of(tmp_path: Path) -> None:
    add(tmp_path, "0000:29:00.0", "19e5:d802", sriov_numvfs="2", enable="3")
    dead = {"current_link_speed": "Unknown", "current_link_width": "0", "max_link_width": "255"}
    for slot in ("0000:29:00.1", "0000:29:00.2"):
        folder = add(tmp_path, slot, "19e5:d805", enable="0", **dead)
        link(folder, "physfn", "0000:29:00.0")
        link(folder, "driver", "bus/pci/drivers/vfio-pci")
    card, one, _ = pci.devices(tmp_path)
    assert (card.functions, card.physical, card.driver, card.enabled) == (2, None, None, True)
    assert (one.physical, one.functions) == ("0000:29:00.0", None)
    assert (one.driver, one.enabled, one.target) == ("vfio-pci", False, "ascend910b")
    assert (one.link_speed_gt, one.link_width, one.max_link_width) == (None, None, None)


def test_two_vendors_in_one_box_are_both_there_and_need_two_targets(tmp_path: Path) -> None:
    a2_box(tmp_path, SLOTS[:2])
    add(tmp_path, "0000:0a:00.0", "1e36:c035")
    add(tmp_path, "0000:0b:00.0", "203f:d802")
    cards = pci.devices(tmp_path)
    assert [card.vendor_name for card in cards] == ["Enflame", "Huawei OEM", "Huawei", "Huawei"]
    assert pci.target_for(cards) is None


def test_what_cannot_be_read_is_none(tmp_path: Path) -> None:
    folder = add(tmp_path, "0000:01:00.0", "1e36:c035")
    for name in ("numa_node", "current_link_width", "revision", "subsystem_vendor"):
        (folder / name).mkdir()  # any read of it fails, also by root
    (folder / "driver").write_text("no link")
    (folder / "max_link_speed").write_bytes(b"\xff\xfe16.0 GT/s")
    (folder / "max_link_width").symlink_to("/dev/zero")  # without end
    (folder / "enable").write_text("")
    (card,) = pci.devices(tmp_path)
    assert (card.ids, card.name) == ("1e36:c035", "Enflame S60 48GB")
    told = msgspec.structs.asdict(card)
    assert all(told[name] is None for name in card.__struct_fields__[-9:])
    assert (card.subsystem, card.numa_node) == (None, None)


@pytest.mark.parametrize(
    ("text", "value"),
    [("2.5 GT/s PCIe", 2.5), ("8 GT/s", 8), ("16.0 GT/s PCIe", 16), ("32.0 GT/s PCIe", 32),
     ("64.0 GT/s PCIe", 64), ("16GT/s", 16), ("Unknown", None), ("Unknown speed", None),
     ("0 GT/s", None), ("16", None), ("", None), ("-16.0 GT/s", None)],
)  # fmt: skip
def test_speeds(text: str, value: float | None) -> None:
    assert pci_sysfs.speed(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("16", 16), ("1", 1), ("0", None), ("63", None), ("255", None), ("x16", None), ("-8", None),
     ("٨", None), ("", None)],
)  # fmt: skip
def test_widths(text: str, value: int | None) -> None:
    assert pci_sysfs.width(text) == value


@given(st.text())
def test_any_text_is_a_value_or_none(text: str) -> None:
    assert (pci_sysfs.speed(text) or 1) > 0
    assert (pci_sysfs.width(text) or 1) in range(1, 33)
    assert (pci_sysfs.count(text) or 0) >= 0


def test_a_device_of_an_older_snapshot_still_loads(tmp_path: Path) -> None:
    a2_box(tmp_path, SLOTS[:1])
    (card,) = pci.devices(tmp_path)
    saved = msgspec.to_builtins(card)
    assert msgspec.convert(saved, pci.Device) == card
    old = {name: saved[name] for name in card.__struct_fields__[:10]}
    loaded = msgspec.convert(old, pci.Device)
    assert (loaded.slot, loaded.link_width, loaded.driver) == (card.slot, None, None)


@pytest.mark.parametrize(
    ("ids", "generation", "target"),
    [("19e5:d801", "Ascend 910", None), ("19e5:d802", "Ascend 910B (A2)", "ascend910b"),
     ("20e9:d802", "Ascend 910B (A2)", "ascend910b"),
     ("19e5:d805", "Ascend 910B (A2)", "ascend910b"),
     ("19e5:d803", "Ascend 910_93 (A3)", None), ("19e5:d804", None, None),
     ("20c6:d500", "Ascend 310P", None), ("1e36:c033", "GCU generation 3", None),
     ("1e36:c035", "GCU generation 3", "s60")],
)  # fmt: skip
def test_generations_are_not_mixed_up(
    tmp_path: Path, ids: str, generation: str | None, target: str | None
) -> None:
    add(tmp_path, "0000:01:00.0", ids)
    (card,) = pci.devices(tmp_path)
    assert card.name is not None
    assert (card.generation, card.target) == (generation, target)


def test_every_row_of_the_catalogue_is_sound() -> None:
    known = pci.catalogue()
    vendors = {vendor.id for vendor in known.vendors}
    pairs = [(model.vendor, model.device) for model in known.models]
    assert len(pairs) == len(set(pairs))
    for model in known.models:
        assert model.vendor in vendors
        assert len(model.device) == 4 and set(model.device) <= set("0123456789abcdef")
        assert all(msgspec.structs.asdict(model)[name] for name in ("name", "source", "seen"))
