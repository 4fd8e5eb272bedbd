"""`npu-smi info`: each layout with exact values, and what must never be guessed."""

from __future__ import annotations

import re
from typing import Any

import pytest

from provision.facts.pci import catalogue
from provision.facts.texts.generation import names
from provision.facts.texts.reading import read
from tests.read import samples
from tests.read.drawn import Die, npu_table
from tests.read.samples import B3, NO_HBM, SAMPLES, b3

CARD = {"npu_id", "name", "health", "power_w", "temperature_c", "chips"}
CHIP = {"chip_id", "device_id", "bus_id", "aicore_percent", "memory_used_mb", "memory_total_mb",
        "hbm_used_mb", "hbm_total_mb"}  # fmt: skip


def cards(text: str) -> list[dict[str, Any]]:
    """The cards of a table."""
    found: list[dict[str, Any]] = read(text)["cards"]
    return found


def test_the_whole_value_of_a_table() -> None:
    value = read(npu_table(B3, [b3(5)], samples.PROCESSES))
    assert value == {
        "schema": "paddock/read/1",
        "kind": "npu-smi info",
        "tool_version": "25.3.1",
        "driver_version": "25.3.0",
        "cards": [
            {
                "npu_id": 5, "name": "910B3", "health": "OK", "power_w": 95.5, "temperature_c": 36,
                "chips": [
                    {
                        "chip_id": 0, "device_id": None, "bus_id": "0000:15:00.0",
                        "aicore_percent": 5, "memory_used_mb": 0, "memory_total_mb": 0,
                        "hbm_used_mb": 41005, "hbm_total_mb": 65536,
                    }
                ],
            }
        ],
        "processes": [
            {"npu_id": 0, "chip_id": 0, "pid": 4711, "memory_mb": 1234,
             "name": "python3 -m a|b long-name-of-a-server"},
            {"npu_id": 2, "chip_id": 0, "pid": 4712, "name": None, "memory_mb": 5678},
        ],
        "generations": ["Ascend 910B (A2)"],
        "notes": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", [name for name, (kind, _) in SAMPLES.items() if kind == "npu-smi info"]
)
def test_every_layout_has_the_same_names_of_values(name: str) -> None:
    for card in cards(SAMPLES[name][1]):
        assert set(card) == CARD
        for chip in card["chips"]:
            assert set(chip) - {"npu_util_percent"} == CHIP


def test_sixteen_cards() -> None:
    found = cards(SAMPLES["16 cards"][1])
    assert [card["npu_id"] for card in found] == list(range(16))
    assert [card["chips"][0]["hbm_used_mb"] for card in found] == [41000 + n for n in range(16)]


def test_two_dies_are_one_card_with_the_worse_health() -> None:
    (card,) = cards(SAMPLES["A3"][1])
    assert (card["npu_id"], card["health"], card["power_w"], card["temperature_c"]) == (
        1,
        "Warning",
        171.5,
        40,
    )
    names = ("chip_id", "device_id", "bus_id", "hbm_used_mb")
    assert [tuple(chip[name] for name in names) for chip in card["chips"]] == [
        (0, 2, "0000:37:00.0", 3111), (1, 3, "0000:39:00.0", 10999),
    ]  # fmt: skip


def test_a_duo_card_has_no_power_and_no_hbm() -> None:
    (card,) = cards(SAMPLES["310P Duo"][1])
    assert card["power_w"] is None
    assert [c["memory_total_mb"] for c in card["chips"]] == [44001, 43002]
    assert all(c["hbm_total_mb"] is None for c in card["chips"])


def test_a_name_of_digits_is_no_chip() -> None:
    (card,) = cards(SAMPLES["310"][1])
    assert (card["npu_id"], card["name"], card["power_w"]) == (8, "310", 12.8)
    assert card["chips"][0]["memory_used_mb"] == 2703


def test_the_950_has_no_chip_column_and_no_aicore() -> None:
    value = read(SAMPLES["950"][1])
    first, second = (card["chips"][0] for card in value["cards"])
    assert value["tool_version"] != value["driver_version"]
    assert (first["chip_id"], first["aicore_percent"], first["npu_util_percent"]) == (
        None,
        None,
        12,
    )
    assert (second["bus_id"], value["cards"][1]["power_w"], value["cards"][1]["health"]) == (
        None,
        None,
        "Alarm",
    )
    assert value["processes"] == [
        {"npu_id": 3, "chip_id": None, "pid": 88, "name": "python", "memory_mb": 10}
    ]


@pytest.mark.parametrize(
    ("name", "generation"),
    [
        ("910B3", "Ascend 910B (A2)"), ("first 910B", "Ascend 910"), ("old", "Ascend 910"),
        ("A3", "Ascend 910_93 (A3)"), ("310P Duo", "Ascend 310P"), ("310", "Ascend 310"),
        ("vNPU", "Ascend 310P"), ("950", "Ascend 950 (A5)"),
    ],
)  # fmt: skip
def test_the_generation(name: str, generation: str) -> None:
    assert set(read(SAMPLES[name][1])["generations"]) == {generation}


def test_the_name_910b_alone_tells_no_generation() -> None:
    die = b3(1, name="910B")
    assert read(npu_table(B3, [die], None))["generations"] == [None]
    first = npu_table(B3, [die._replace(memory="10 / 14000", hbm="0 / 32768")], None)
    assert read(first)["generations"] == ["Ascend 910"]


@pytest.mark.parametrize(
    "more",
    ["\nlspci -n\n11:00.0 1200: 19e5:d802 (rev 20)\n",
     "\n$ npu-smi info -t board -i 1\n NPU ID : 1\n PCIe Bus Info : 0000:11:00.0\n"
     " PCI Vendor ID : 0x19E5\n PCI Device ID : 0xD802\n"],
)  # fmt: skip
def test_a_pci_id_in_the_same_text_tells_it(more: str) -> None:
    text = npu_table(B3, [b3(1, name="910B", memory="10 / 14000", hbm="0 / 32768")], None)
    assert read(text + more)["generations"] == ["Ascend 910B (A2)"]


@pytest.mark.parametrize("missing", ["power", "temp", "pages"])
def test_a_missing_value_of_the_first_row_leaves_a_gap(missing: str) -> None:
    (card,) = cards(npu_table(B3, [b3(1)._replace(**{missing: ""})], None))
    assert card["power_w"] == (None if missing == "power" else 91.5)
    assert card["temperature_c"] == (None if missing == "temp" else 32)


@pytest.mark.parametrize("missing", ["aicore", "memory", "hbm"])
def test_a_missing_value_of_the_second_row_leaves_a_gap(missing: str) -> None:
    die = b3(7, memory="11   / 22")._replace(**{missing: ""})
    chip = cards(npu_table(B3, [die], None))[0]["chips"][0]
    assert chip["aicore_percent"] == (None if missing == "aicore" else 7)
    assert chip["memory_used_mb"] == (None if missing == "memory" else 11)
    assert chip["hbm_used_mb"] == (None if missing == "hbm" else 41007)


def test_a_missing_chip_or_device_number_leaves_a_gap() -> None:
    gone = samples.DUO[1]._replace(chip="")
    chip = cards(npu_table(NO_HBM, [gone], None))[0]["chips"][0]
    assert (chip["chip_id"], chip["device_id"]) == (None, 5)
    chip = cards(npu_table(NO_HBM, [samples.DUO[1]._replace(device="NA")], None))[0]["chips"][0]
    assert (chip["chip_id"], chip["device_id"]) == (1, None)


@pytest.mark.parametrize("word", ["NA", "N/A", "-"])
def test_what_is_not_available_is_none(word: str) -> None:
    (card,) = cards(
        npu_table(B3, [b3(3, power=word, temp=word, aicore=word, memory=word, bus=word)], None)
    )
    assert (card["power_w"], card["temperature_c"]) == (None, None)
    chip = card["chips"][0]
    assert (chip["aicore_percent"], chip["memory_used_mb"], chip["bus_id"]) == (None, None, None)
    assert chip["hbm_used_mb"] == 41003


def test_another_unit_is_converted() -> None:
    text = npu_table(B3, [b3(0, hbm="3 / 64")], None).replace("HBM-Usage(MB)", "HBM-Usage(GB)")
    assert cards(text)[0]["chips"][0]["hbm_total_mb"] == 65536


def test_a_chip_whose_card_is_lost_is_given_to_no_other() -> None:
    lines = npu_table(B3, [b3(0), b3(1)], None).splitlines()
    lines.remove(next(line for line in lines if line.startswith("| 1     910B3")))
    value = read("\n".join(lines))
    assert [card["npu_id"] for card in value["cards"]] == [0]
    assert len(value["cards"][0]["chips"]) == 1
    assert value["notes"] == ["stray"]


def test_a_number_that_was_cut_is_not_taken() -> None:
    text = npu_table(B3, [b3(0)], None)
    cut = text[: text.index("41000") + 3]
    assert cards(cut)[0]["chips"][0]["hbm_used_mb"] is None
    cut = text[: text.index("90.5") + 2]
    assert cards(cut)[0]["power_w"] is None


def test_a_table_without_its_headings_is_unknown() -> None:
    lines = [
        line for line in SAMPLES["910B3"][1].splitlines() if "Name" not in line or "Process" in line
    ]
    value = read("\n".join(lines))
    assert (value["kind"], value["why"]) == (None, "npu-headings")


@pytest.mark.parametrize(
    "table",
    [
        "| NPU-SMI V1.0.0          Client API Version: 1.0.0 |\n"
        "| NPU   Name | Health | Bus-Id | AICore | Memory-Usage | ... |\n"
        "| 0     Ascend910B3 | OK | 0000:01:00.0 | 30 | 0/65536 MB | ... |\n",
        "| NPU-SMI v1.2.0     Driver: VEN_1022 DEV_1502 (AMD)  AIE2 |\n"
        "| NPU  Name    Topology | PCIe Bus-ID  Status | Core-Clock  Power |\n"
        "|   0  AMD NPU1     4x4 | 0000:01:00.0 ONLINE | 1000 MHz  3.91W/15W |\n",
        "+------+\n| NVIDIA-SMI 550.54   Driver Version: 550.54   CUDA Version: 12.4 |\n"
        "| GPU  Name    Persistence-M | Bus-Id   Disp.A | Volatile Uncorr. ECC |\n",
    ],
)
def test_a_table_of_another_tool_is_unknown(table: str) -> None:
    assert read(table)["kind"] is None


def test_lines_that_were_left_out_are_said() -> None:
    lines = npu_table(B3, [b3(0), b3(7)], None).splitlines()
    lines.insert(len(lines) - 3, "...")
    value = read("\n".join(lines))
    assert (len(value["cards"]), value["notes"]) == (2, ["elided"])


def test_two_tables_in_a_text_are_two_parts() -> None:
    value = read(npu_table(B3, [b3(0)], None) + npu_table(B3, [b3(1)], None))
    (other,) = value["more"]
    assert [card["npu_id"] for card in value["cards"] + other["cards"]] == [0, 1]


def test_quoted_indented_and_drawn_with_other_bars() -> None:
    plain = SAMPLES["A3"][1]
    for changed in (
        "\n".join(f"> {line}" for line in plain.splitlines()),
        "\n".join(f"    {line}" for line in plain.splitlines()),
        plain.replace("|", "│"),
        plain.replace(" |\n", "\n"),
        f"```\n{plain}```\n",
    ):
        assert read(changed)["cards"] == read(plain)["cards"]


def test_rows_that_are_narrower_than_their_headings() -> None:
    die = Die(
        "0",
        "xxx",
        "OK",
        "73.1",
        "37",
        "0 / 0",
        "0",
        "",
        "0000:61:00.0",
        "0",
        "920  / 13553",
        "0 / 32768",
    )
    text = npu_table(B3, [die], None).replace("| 0     xxx                 |", "| 0     xxx  |")
    (card,) = cards(text)
    assert (card["name"], card["power_w"], card["temperature_c"]) == ("xxx", 73.1, 37)


def test_every_name_that_tells_a_generation_is_sound() -> None:
    known = {model.generation for model in catalogue().models}
    assert names()
    for name in names():
        assert name.generation in known
        assert re.compile(name.pattern)
        assert not re.fullmatch(name.pattern, "910B"), "first-generation cards print this name too"
        assert name.source and name.seen
