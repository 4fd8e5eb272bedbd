"""Real outputs, kept outside of the project in the folder that PADDOCK_TEST_RECORDINGS names."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from provision.facts.texts.reading import read
from provision.facts.texts.section import decode
from tests.read.recorded import FOLDER, GIVEN, recordings

pytestmark = pytest.mark.skipif(not GIVEN, reason="PADDOCK_TEST_RECORDINGS names no folder")


def load(path: Path) -> dict[str, Any]:
    """What a recording says."""
    text = decode(path.read_bytes())
    assert text is not None
    return read(text)


def test_there_are_recordings() -> None:
    assert len(recordings()) > 80


@pytest.mark.parametrize("path", recordings(), ids=lambda path: path.name)
def test_every_recording_is_recognised(path: Path) -> None:
    value = load(path)
    expected = {"npu-smi": "npu-smi info", "lspci": "lspci"}.get(path.parent.name)
    assert value["kind"] == expected if expected else value["kind"]


def test_the_key_of_npu_smi_agrees() -> None:
    with (FOLDER / "npu-smi" / "expected.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert rows
    for row in rows:
        value = load(FOLDER / "npu-smi" / row["file"])
        cards = value["cards"]
        found = {
            "tool_version": value["tool_version"],
            "driver_version": value["driver_version"],
            "npu_ids": str(len(cards)),
            "chips": str(sum(len(card["chips"]) for card in cards)),
            "names": " ".join(sorted({card["name"] for card in cards})),
            "health": " ".join(sorted({card["health"] for card in cards})),
            "process_rows": str(len(value["processes"])),
            "npu_id_list": " ".join(str(card["npu_id"]) for card in cards),
        }
        assert found == {name: row[name] for name in found}, row["file"]


def test_no_number_of_a_card_is_lost() -> None:
    for path in sorted((FOLDER / "npu-smi").glob("*.txt")):
        value = load(path)
        for card in value["cards"]:
            assert card["temperature_c"] is not None, path.name
            for chip in card["chips"]:
                assert chip["memory_total_mb"] is not None, path.name
                util = chip["aicore_percent"], chip.get("npu_util_percent")
                assert util != (None, None), path.name


@pytest.mark.parametrize(
    ("name", "models"),
    [("d802_910B_x16_seed001.txt", {"Ascend 910B": 16}),
     ("enflame_S60_x2_named_paddlenlp.txt", {"Enflame S60 48GB": 2}),
     ("enflame_S60_unnamed_old_pciids_DERIVED.txt", {"Enflame S60 48GB": 2}),
     ("numeric_n_mixed_DERIVED.txt", {"Ascend 910B": 2, "Enflame S60 48GB": 1, None: 1})],
)  # fmt: skip
def test_the_accelerators_of_lspci(name: str, models: dict[str | None, int]) -> None:
    found = [device["accelerator"] for device in load(FOLDER / "lspci" / name)["devices"]]
    assert {model: found.count(model) for model in set(found)} == models


def test_no_value_of_a_card_of_efsmi_is_lost_but_power_of_virtual_ones() -> None:
    tables = [
        path
        for path in sorted((FOLDER / "efsmi").glob("efsmi_*_S60*"))
        if load(path)["kind"] == "efsmi"
    ]
    assert tables
    for path in tables:
        for card in load(path)["cards"]:
            lost = {name for name, value in card.items() if value is None}
            assert lost <= ({"power_w", "power_cap_w"} if "S60G" in path.name else set()), path.name
