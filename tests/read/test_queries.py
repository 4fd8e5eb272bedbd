"""The sub-commands of npu-smi, and its errors."""

from __future__ import annotations

from typing import Any

import pytest

from provision.facts.texts.npu_errors import codes
from provision.facts.texts.reading import read
from tests.read.samples import SAMPLES


def blocks(name: str) -> list[tuple[Any, Any, Any]]:
    """Chip id, chip name and values of each block of a sample."""
    found = read(SAMPLES[name][1])["blocks"]
    return [(block["chip_id"], block["chip_name"], block["values"]) for block in found]


def test_the_chip_may_trail_its_block() -> None:
    assert blocks("usages") == [
        (
            0,
            None,
            {"DDR Capacity(MB)": 44280, "DDR Usage Rate(%)": 3, "Ctrlcpu Usage Rate(%)": None},
        ),
        (1, None, {"DDR Capacity(MB)": 43693, "DDR Usage Rate(%)": 4, "Ctrlcpu Usage Rate(%)": 5}),
    ]
    assert {block["npu_id"] for block in read(SAMPLES["usages"][1])["blocks"]} == {1}


def test_lost_blank_lines_change_nothing() -> None:
    text = SAMPLES["usages"][1]
    assert read(text.replace("\n\n", "\n"))["blocks"] == read(text)["blocks"]


def test_the_chip_may_lead_its_block_and_a_controller_has_none() -> None:
    assert blocks("common") == [
        (0, None, {"Aicore Usage Rate(%)": 11, "Aicore Count": 24, "Temperature(C)": 46,
                   "NPU Real-time Power(W)": 69.5}),
        (None, "mcu", {"Temperature(C)": 48, "NPU Real-time Power(W)": 45.2}),
    ]  # fmt: skip


def test_ids_stay_as_printed_and_na_is_none() -> None:
    ((_, _, values),) = blocks("board")
    assert (values["PCI Device ID"], values["PCB ID"], values["Compatibility"]) == (
        "0xD801",
        None,
        "NOK",
    )
    assert values["Firmware Version"] == "7.5.0.9"


def test_a_text_over_several_lines() -> None:
    ((_, _, values),) = blocks("health")
    assert values["Error Information"] == "first text; second text"
    assert values["Error Code"] == "80E01801 8C2FA001"


@pytest.mark.parametrize(
    ("name", "label", "value"),
    [("memory", "HBM Clock Speed(MHz)", 1600), ("ecc", "HBM Double Bit Error Count", 2),
     ("power", "NPU Real-time Power(W)", 103.5), ("temp", "NPU Temperature (C)", 39)],
)  # fmt: skip
def test_the_value_of_a_query(name: str, label: str, value: float) -> None:
    assert blocks(name)[0][2][label] == value


def test_a_query_that_only_its_command_names() -> None:
    value = read("$ npu-smi info -t new-thing -i 3 -c 1\n  Some Value(MB)   : 12\n")
    assert value["kind"] == "npu-smi info -t new-thing"
    assert value["blocks"] == [
        {"npu_id": 3, "chip_id": 1, "chip_name": None, "values": {"Some Value(MB)": 12}}
    ]


def test_topics_one_after_the_other_without_commands() -> None:
    value = read(SAMPLES["board"][1] + "\n" + SAMPLES["usages"][1] + "\n" + SAMPLES["temp"][1])
    kinds = [value["kind"], *(part["kind"] for part in value["more"])]
    assert kinds == ["npu-smi info -t board", "npu-smi info -t usages", "npu-smi info -t temp"]


def test_the_map_of_chips() -> None:
    chips = read(SAMPLES["map"][1])["chips"]
    assert [(c["npu_id"], c["chip_id"], c["logic_id"], c["phy_id"], c["name"]) for c in chips] == [
        (1, 0, 0, None, "Ascend 310P3"), (1, 1, 1, None, "Ascend 310P3"), (1, 2, None, None, "Mcu"),
    ]  # fmt: skip


def test_the_map_with_physical_ids_and_slots() -> None:
    text = (
        "NPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
        "0        1         3               7             Ascend910\n"
    )
    (chip,) = read(text)["chips"]
    assert (chip["chip_id"], chip["logic_id"], chip["phy_id"], chip["name"]) == (
        1,
        3,
        7,
        "Ascend910",
    )
    text = text.replace("Chip Logic ID", "Slot ID      ")
    (chip,) = read(text)["chips"]
    assert (chip["slot_id"], chip["logic_id"]) == (3, None)


def test_the_list_of_cards() -> None:
    value = read(SAMPLES["list"][1])
    assert value["total"] == 2
    assert [(n["npu_id"], n["chip_count"], n["product_name"]) for n in value["npus"]] == [
        (1, 1, None), (64, 2, "X"),
    ]  # fmt: skip


def test_processes_belong_to_the_chip_below_them_although_the_first_has_none() -> None:
    found = read(SAMPLES["proc-mem"][1])["processes"]
    assert [(p["npu_id"], p["chip_id"], p["pid"], p["name"], p["memory_mb"]) for p in found] == [
        (32768, 1, 11, "server one", 1336), (32768, 1, 12, None, 460),
    ]  # fmt: skip


def test_processes_below_the_chip() -> None:
    text = "Chip ID : 4\nProcess id:5 Process name:x Process memory(MB):6\n"
    assert read(text)["processes"] == [
        {"npu_id": None, "chip_id": 4, "pid": 5, "name": "x", "memory_mb": 6}
    ]


def test_shares() -> None:
    value = read(SAMPLES["info-vnpu"][1])
    assert (value["total"], value["resources"]["Memory"], value["resources"]["PNGD"]) == (
        1,
        (21, 42),
        (None, None),
    )
    assert value["vnpus"] == [
        {"vnpu_id": 212, "container_id": "00000000abcd", "status": "1", "template": "vir04"}
    ]


def test_templates() -> None:
    amounts = {"AICORE": 1, "Memory": 3, "AICPU": 1, "VPC": 2, "PNGD": 0}
    assert read(SAMPLES["template-info"][1])["templates"] == {"vir01": amounts}
    lost = SAMPLES["template-info"][1].replace("1         3 ", "          3 ")
    assert read(lost)["templates"] == {"vir01": {"PNGD": 0}}


def test_a_sample_with_a_gap() -> None:
    first, second = read(SAMPLES["watch"][1])["rows"]
    assert first["Memory(%)"] == 3
    assert "Pwr(W)" not in second
    assert (second["Temp(C)"], second["Memory(%)"], second["NPU Util(%)"]) == (49, None, 8)


def test_topology() -> None:
    first, second = read(SAMPLES["topo"][1])["npus"]
    assert first == {"npu_id": 0, "links": {"NPU0": "X", "NPU1": "HCCS"}, "cpu_affinity": "0-31"}
    assert second["cpu_affinity"] == "32-63"


@pytest.mark.parametrize(
    ("line", "code", "name"),
    [
        ("dcmi module initialize failed. ret is -8005", -8005, "DCMI_ERR_CODE_INNER_ERR"),
        ("dcmi model initialized failed, because the device is used. ret is -8020", -8020,
         "DCMI_ERR_CODE_RESOURCE_OCCUPIED"),
        ("something new failed. ret is -8999", -8999, None),
        ("Invalid card id.", None, None),
        ("Error parameter of -i", None, None),
        ("This device does not support querying p2p-enable.", None, None),
        ("bash: npu-smi: command not found", None, None),
        ("sh: 1: npu-smi: not found", None, None),
        ("bash: npu-smi：未找到命令", None, None),
        ("npu-smi: error while loading shared libraries: libc_sec.so: cannot open", None, None),
    ],
)  # fmt: skip
def test_errors(line: str, code: int | None, name: str | None) -> None:
    value = read(line)
    assert value["kind"] == "npu-smi error"
    (error,) = value["errors"]
    assert (error["text"], error["code"], error["name"]) == (line, code, name)
    assert bool(error["meaning"]) == (name is not None)


def test_every_code_is_sound() -> None:
    for value, code in codes().items():
        assert value == code.value <= 0
        assert code.name and code.en and code.zh and code.source and code.seen
