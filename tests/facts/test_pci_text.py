"""What `lspci` prints, in all its forms and from a program of our own in place of it."""
# ruff: noqa: E501 - lines of the tool stand here as it prints them

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provision.facts import pci, pci_text

# One machine: two 910B, one by another vendor, an S60, and three devices that are no accelerator.
PLAIN = """\
02:00.0 VGA compatible controller: Huawei Technologies Co., Ltd. Hi171x Series [iBMC] (rev 01)
08:00.0 Processing accelerators: Shanghai Enflame Technology Co. Ltd Device c035 (rev 01)
09:00.0 Processing accelerators: Device 203f:d802 (rev 20)
28:00.0 Processing accelerators: Huawei Technologies Co., Ltd. Device d802 (rev 20)
29:00.0 Processing accelerators: Huawei Technologies Co., Ltd. Device d802 (rev 20)
3b:00.0 Ethernet controller: Huawei Technologies Co., Ltd. Hi1822 Family (rev 45)
81:00.0 Non-Volatile memory controller: Huawei Technologies Co., Ltd. ES3000 V6 NVMe PCIe SSD (rev 45)
"""
NN = """\
02:00.0 VGA compatible controller [0300]: Huawei Technologies Co., Ltd. Hi171x Series [iBMC] [19e5:1711] (rev 01)
08:00.0 Processing accelerators [1200]: Shanghai Enflame Technology Co. Ltd Device [1e36:c035] (rev 01)
09:00.0 Processing accelerators [1200]: Device [203f:d802] (rev 20)
28:00.0 Processing accelerators [1200]: Huawei Technologies Co., Ltd. Device [19e5:d802] (rev 20)
29:00.0 Processing accelerators [1200]: Huawei Technologies Co., Ltd. Device [19e5:d802] (rev 20)
3b:00.0 Ethernet controller [0200]: Huawei Technologies Co., Ltd. Hi1822 Family [19e5:0222] (rev 45)
81:00.0 Non-Volatile memory controller [0108]: Huawei Technologies Co., Ltd. ES3000 V6 NVMe PCIe SSD [19e5:3754] (rev 45)
"""
NUMBERS = """\
02:00.0 0300: 19e5:1711 (rev 01)
08:00.0 1200: 1e36:c035 (rev 01)
09:00.0 1200: 203f:d802 (rev 20)
28:00.0 1200: 19e5:d802 (rev 20)
29:00.0 1200: 19e5:d802 (rev 20)
3b:00.0 0200: 19e5:0222 (rev 45)
81:00.0 0108: 19e5:3754 (rev 45)
"""
HUAWEI = "Huawei Technologies Co., Ltd."
ENFLAME = "Shanghai Enflame Technology Co. Ltd"
ROWS = [
    (
        "02:00.0",
        "VGA compatible controller",
        "0300",
        HUAWEI,
        "19e5",
        "Hi171x Series [iBMC]",
        "1711",
        "01",
    ),
    ("08:00.0", "Processing accelerators", "1200", ENFLAME, "1e36", "Device", "c035", "01"),
    ("09:00.0", "Processing accelerators", "1200", "Vendor", "203f", "Device", "d802", "20"),
    ("28:00.0", "Processing accelerators", "1200", HUAWEI, "19e5", "Device", "d802", "20"),
    ("29:00.0", "Processing accelerators", "1200", HUAWEI, "19e5", "Device", "d802", "20"),
    ("3b:00.0", "Ethernet controller", "0200", HUAWEI, "19e5", "Hi1822 Family", "0222", "45"),
]
VMMNN = "\n".join(
    f"Slot:\t0000:{slot}\nClass:\t{kind} [{number}]\nVendor:\t{vendor} [{v}]\nDevice:\t{name} [{d}]\n"
    f"SVendor:\t{HUAWEI} [19e5]\nSDevice:\tDevice [3002]\nRev:\t{rev}\nProgIf:\t00\nNUMANode:\t1\n"
    for slot, kind, number, vendor, v, name, d, rev in ROWS
)
VMM = "\n".join(
    f"Slot:\t{slot}\nClass:\t{kind}\nVendor:\t{vendor if vendor != 'Vendor' else 'Vendor ' + v}\n"
    f"Device:\t{name if name != 'Device' else 'Device ' + d}\nRev:\t{rev}\n"
    for slot, kind, number, vendor, v, name, d, rev in ROWS
)
MMNN = "".join(
    f'{slot} "{kind} [{number}]" "{vendor} [{v}]" "{name} [{d}]" -r{rev} -p00 "{HUAWEI} [19e5]" "Device [3002]"\n'
    for slot, kind, number, vendor, v, name, d, rev in ROWS
)
MM = re.sub(r" \[(?:1200|0200|0300|19e5|1e36)\]|\[(?=[0-9a-f]{4}\])|(?<=[0-9a-f]{4})\]", "", MMNN)
VERBOSE = """\
28:00.0 Processing accelerators [1200]: Huawei Technologies Co., Ltd. Device [19e5:d802] (rev 20)
\tSubsystem: Huawei Technologies Co., Ltd. Device [19e5:3002]
\tNUMA node: 3
\tCapabilities: [40] Express (v2) Endpoint, MSI 00
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported
\t\tLnkSta:\tSpeed 16GT/s (downgraded), Width x8 (downgraded)
\t\tLnkCap2: Supported Link Speeds: 2.5-32GT/s, Crosslink- Retimer+ 2Retimers+ DRS-
\tCapabilities: [160 v1] Single Root I/O Virtualization (SR-IOV)
\t\tInitial VFs: 12, Total VFs: 12, Number of VFs: 4, Function Dependency Link: 00
\tKernel driver in use: devdrv_device_driver
\tKernel modules: drv_pcie_host

29:00.0 Processing accelerators [1200]: Huawei Technologies Co., Ltd. Device [19e5:d802] (rev ff)
\t!!! Unknown header type 7f
\t\tLnkSta:\tSpeed unknown, Width x63

NUMA node: 7
"""
TOLD = [
    ("0000:08:00.0", "1e36:c035", "Enflame S60 48GB", "01"),
    ("0000:09:00.0", "203f:d802", "Ascend 910B (OEM)", "20"),
    ("0000:28:00.0", "19e5:d802", "Ascend 910B", "20"),
    ("0000:29:00.0", "19e5:d802", "Ascend 910B", "20"),
]
FORMS = {
    "plain": PLAIN,
    "-nn": NN,
    "-n": NUMBERS,
    "-vmmnn": VMMNN,
    "-vmm": VMM,
    "-mmnn": MMNN,
    "-mm": MM,
}


def told(text: str) -> list[tuple[Any, ...]]:
    """What every form tells."""
    return [(card.slot, card.ids, card.name, card.revision) for card in pci_text.from_lspci(text)]


def domains(text: str) -> str:
    """The same with -D."""
    return re.sub(r"^([0-9a-f]{2}:[0-9a-f]{2}\.0)", r"0000:\1", text, flags=re.M)


@pytest.mark.parametrize("form", FORMS)
def test_one_machine_in_every_form(form: str) -> None:
    assert told(FORMS[form]) == TOLD
    assert told(domains(FORMS[form])) == TOLD


def test_the_fullest_form_tells_board_and_node() -> None:
    card = pci_text.from_lspci(VMMNN)[-1]
    assert (card.subsystem, card.board, card.numa_node) == ("19e5:3002", "Atlas 800I A2", 1)


@pytest.mark.parametrize(
    ("vendor", "device", "subsystem"),
    [("Vendor 0200", "Device 0100", "0200:0100"), ("0200", "0100", "0200:0100"),
     ("Some [one] [0200]", "Device [0100]", "0200:0100"), ("Some One", "Device 0100", None),
     ("0200", "Accelerator beef", None)],
)  # fmt: skip
def test_a_subsystem_is_told_by_ids_only(vendor: str, device: str, subsystem: str | None) -> None:
    record = "Slot:\t08:00.0\nClass:\t1200\nVendor:\t19e5\nDevice:\td802\n"
    (card,) = pci_text.from_lspci(record + f"SVendor:\t{vendor}\nSDevice:\t{device}\n")
    assert card.subsystem == subsystem


def test_a_verbose_text_tells_the_link_too() -> None:
    card, gone = pci_text.from_lspci(VERBOSE)
    assert (card.subsystem, card.board, card.numa_node) == ("19e5:3002", "Atlas 800I A2", 3)
    assert (card.link_speed_gt, card.link_width) == (16, 8)
    assert (card.max_link_speed_gt, card.max_link_width) == (32, 16)
    assert (card.driver, card.functions) == ("devdrv_device_driver", 4)
    assert (gone.revision, gone.link_speed_gt, gone.link_width) == ("ff", None, None)
    assert (gone.driver, gone.subsystem, gone.numa_node) == (None, None, None)


def test_of_a_slot_that_is_there_twice_the_fuller_one_counts() -> None:
    both = "$ lspci\n" + PLAIN + "$ lspci -vvnn -s 28:00.0\n" + VERBOSE + "$ lspci -n\n" + NUMBERS
    cards = {card.slot: card for card in pci_text.from_lspci(both)}
    assert list(cards) == [slot for slot, *_ in TOLD]
    assert cards["0000:28:00.0"].link_width == 8


def test_another_domain_is_another_slot() -> None:
    text = "0001:28:00.0 1200: 19e5:d802 (rev 20)\n28:00.0 1200: 19e5:d802\n00000000:29:00.0 1200: 19e5:d802\n"
    slots = [card.slot for card in pci_text.from_lspci(text)]
    assert slots == ["0000:28:00.0", "0000:29:00.0", "0001:28:00.0"]


def test_a_name_that_tells_no_model_is_still_a_card() -> None:
    line = "75:00.0 Processing accelerators: Huawei Technologies Co., Ltd. Something New (rev 21)\n"
    (card,) = pci_text.from_lspci(line)
    assert (card.ids, card.name, card.target) == ("19e5:????", None, None)
    assert told("75:00.0 Processing accelerators: Other Corp. Device d802\n") == []
    assert told("1a:00.0 1200: 1ea0:0001\n") == [("0000:1a:00.0", "1ea0:0001", None, None)]


@given(st.text() | st.sampled_from(list(FORMS.values())).flatmap(
    lambda text: st.tuples(st.just(text), st.integers(0, 2000), st.text()).map(
        lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] :])))  # fmt: skip
def test_any_text_is_a_list(text: str) -> None:
    for card in pci_text.from_lspci(text):
        assert re.fullmatch(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", card.slot)
        assert card.vendor in {vendor.id for vendor in pci.catalogue().vendors}


@pytest.mark.timeout(10)
def test_a_long_line_is_read_at_once() -> None:
    assert (
        told("Subsystem:" + " " * 200_000 + "x\n" + "LnkSta:" + "Speed " * 50_000 + "\n" + NN)
        == TOLD
    )


RECORDED = Path(os.environ.get("PADDOCK_TEST_RECORDINGS", "/nonexistent")) / "lspci"
CARDS = {
    "d500_310P_x2.txt": ("19e5:d500", "23", "01 06"),
    "d801_910A_x8_no_name.txt": ("19e5:d801", "20", "3d 3e 60 61 b1 b2 da db"),
    "d802_910B_x16_seed001.txt": (
        "19e5:d802",
        "20",
        "28 29 38 39 48 49 59 5a 98 99 b8 b9 c8 c9 d9 da",
    ),
    "d803_A3_no_rev.txt": ("19e5:d803", None, "00"),
    "enflame_S60_unnamed_old_pciids_DERIVED.txt": ("1e36:c035", "01", "01 09"),
    "enflame_S60_x2_named_paddlenlp.txt": ("1e36:c035", "01", "01 09"),
}


@pytest.mark.skipif(not RECORDED.is_dir(), reason="PADDOCK_TEST_RECORDINGS has no lspci")
@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.txt")), ids=lambda path: path.name)
def test_recordings_say_what_a_person_reads(path: Path) -> None:
    found = [(card.slot, card.ids, card.revision) for card in pci_text.from_lspci(path.read_text())]
    if path.name in CARDS:
        ids, revision, buses = CARDS[path.name]
        assert found == [(f"0000:{bus}:00.0", ids, revision) for bus in buses.split()]
        return
    text = path.read_text().lower()
    lines = [line for line in text.splitlines() if re.search(r"(?:1200\]?|accelerators?): ", line)]
    assert len(found) == len({line.split()[0] for line in lines}) > 0
    for slot, ids, revision in found:
        (line,) = (line for line in lines if line.split()[0] in (slot, slot[5:]))
        assert ids in line and f"(rev {revision})" in line


def a_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """A root without sysfs, and a program named lspci; `$1` is the form that it is asked for."""
    tool = tmp_path / "bin" / "lspci"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n{script}\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    (tmp_path / "root").mkdir()
    for name, text in FORMS.items():
        (tmp_path / name).write_text(domains(text))
    return tmp_path / "root"


def test_without_sysfs_lspci_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = a_tool(tmp_path, monkeypatch, f"cat {tmp_path}/-vmmnn")
    assert pci_text.collect(root) == pci_text.from_lspci(VMMNN)
    assert (
        tmp_path / "asked"
    ).read_text() == f"-Dvmmnn -A linux-proc -O proc.path={root}/proc/bus/pci\n"


def test_an_old_lspci_is_asked_for_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuses = f'[ "$1" = -Dn ] || {{ echo "Usage: lspci" >&2; exit 1; }}; cat {tmp_path}/-n'
    assert told_by(a_tool(tmp_path, monkeypatch, refuses)) == TOLD
    assert (tmp_path / "asked").read_text().count("\n") == 3


def told_by(root: Path) -> list[tuple[Any, ...]]:
    return [(card.slot, card.ids, card.name, card.revision) for card in pci_text.collect(root)]


@pytest.mark.parametrize(
    ("script", "reason"),
    [("echo 'Cannot open it' >&2; exit 1", "Cannot open it"), ("exit 3", "status 3"),
     ("echo 'no such applet'", "no such applet")],
)  # fmt: skip
def test_a_broken_lspci_is_no_empty_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    with pytest.raises(OSError, match=reason):
        pci_text.collect(a_tool(tmp_path, monkeypatch, script))


def test_a_lspci_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pci_text, "_LIMIT", 0.2)
    with pytest.raises(OSError, match="no answer"):
        pci_text.collect(a_tool(tmp_path, monkeypatch, "sleep 60"))


def test_an_empty_bus_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pci_text.collect(a_tool(tmp_path, monkeypatch, "")) == []


def test_without_sysfs_and_lspci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(pci_text, "_PLACES", str(tmp_path))
    with pytest.raises(OSError, match="and no lspci"):
        pci_text.collect(tmp_path)


def test_with_sysfs_lspci_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = a_tool(tmp_path, monkeypatch, "exit 1")
    (root / "sys/bus/pci/devices").mkdir(parents=True)
    assert pci_text.collect(root) == []
    assert not (tmp_path / "asked").exists()


def test_a_sysfs_that_cannot_be_listed_is_no_empty_machine(tmp_path: Path) -> None:
    (tmp_path / "sys/bus/pci").mkdir(parents=True)
    (tmp_path / "sys/bus/pci/devices").write_text("a file")
    with pytest.raises(NotADirectoryError):
        pci_text.collect(tmp_path)
