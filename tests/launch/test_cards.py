"""The cards by the vendors' tools: memory in use, and what is told of a card that falls ill."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from checks.launch import cards, proof, watch
from checks.launch.cards import Card, cards_of
from checks.launch.watch import Usage, watched
from provision.facts.cards import well
from provision.facts.questions import Output
from tests.lab.boxes import ascend, enflame
from tests.lab.boxes.programs import efsmi, npu_smi

WELL = Card("910B3", 3400, 65536, "OK", True, "0000:C1:00.0")


@pytest.fixture
def npu_text(capsys: pytest.CaptureFixture[str]) -> str:
    npu_smi.table(dict(ascend.spec().state))
    return capsys.readouterr().out


def of(command: str, text: str, status: int | None = 0) -> tuple[Card, ...] | None:
    return cards_of(Output(command, text, f"/usr/bin/{command.partition(' ')[0]}", status))


def test_the_table_of_npu_smi(npu_text: str) -> None:
    found = of("npu-smi info", npu_text)
    assert found
    assert [one.used for one in found] == [3400 + n for n in range(8)]
    assert found[0] == WELL


def test_a_tool_that_failed_or_an_unknown_layout_tells_nothing(npu_text: str) -> None:
    for status in (1, None, -9):
        assert of("npu-smi info", npu_text, status) is None
    assert of("npu-smi info", f"{npu_text[:900]}\n...\n{npu_text[900:]}") is None
    assert of("npu-smi info", "dcmi module initialize failed. ret is -8005\n") is None
    assert of("npu-smi info", "cards: 8, all busy\n") is None


def test_shares_of_one_card_have_no_bus_of_their_own(npu_text: str) -> None:
    found = of("npu-smi info", npu_text.replace("0000:C2:00.0", "0000:C1:00.0"))
    assert found
    assert {one.bus for one in found} == {None}


@pytest.mark.skipif("PADDOCK_TEST_RECORDINGS" not in os.environ, reason="no recordings are given")
def test_recorded_tables() -> None:
    """Of each table that is whole all cards have their memory; no total is below what is in use."""
    folder = Path(os.environ["PADDOCK_TEST_RECORDINGS"])
    told = {file.name: of("npu-smi info", file.read_text())
            for file in (folder / "npu-smi").glob("*.txt")}  # fmt: skip
    assert sum(found is not None for found in told.values()) > len(told) / 2
    for name, found in told.items():
        for one in found or ():
            assert one.used is None or 0 <= one.used <= (one.total or 0), name
    [old] = (folder / "efsmi").glob("efsmi_q_d_TEMP*")
    found = of("efsmi -q", old.read_text())
    assert found and {(one.used, one.total, one.well) for one in found} == {(1129, 42976, None)}


def test_the_query_of_efsmi(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class File:
        def read_text(self) -> str:
            return "1.5.0.5"

    monkeypatch.setattr(efsmi, "MODULE", File())
    state = dict(enflame.spec().state)
    state["cards"][1] |= {"used": 27000, "health": "False"}
    efsmi.query(state)
    found = of("efsmi -q", capsys.readouterr().out)
    assert found
    assert [(one.used, one.total, one.well) for one in found[:3]] == [
        (1129, 42976, True), (28129, 42976, False), (1129, 42976, True),
    ]  # fmt: skip


class Tool:
    """A vendor's tool with answers of ours; the last one stays."""

    def __init__(self, *answers: Sequence[Card] | None) -> None:
        self.answers: Iterator[Sequence[Card] | None] = iter(answers)
        self.last: Sequence[Card] | None = None
        self.spent = threading.Event()

    def look(self, device: str) -> tuple[Card, ...] | None:
        try:
            self.last = next(self.answers)
        except StopIteration:
            self.spent.set()
        return None if self.last is None else tuple(self.last)


def seen(monkeypatch: pytest.MonkeyPatch, numbers: Sequence[int], tool: Tool) -> Usage:
    """What a watch comes to over all answers of a tool."""
    monkeypatch.setattr(cards, "look", tool.look)
    monkeypatch.setattr(watch, "_FIRST", 0.01)
    with watched("npu", numbers, lambda _: None) as usage:
        assert tool.spent.wait(10)
    return usage


def card(number: int, used: int = 3400, health: str = "OK") -> Card:
    return Card("910B3", used, 65536, health, health == "OK", f"0000:{number:02}:00.0")


def states(usage: Usage, numbers: Sequence[int]) -> dict[str, str]:
    return {one.key: one.state for one in proof.reasons(usage, numbers, "npu-smi")}


def test_the_most_in_use_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [[card(0, used), card(1, used)] for used in (3400, 3450, 30000, 9000)]
    usage = seen(monkeypatch, [0, 1], Tool(*answers))
    assert (usage.before, usage.during) == ({0: 3400, 1: 3400}, {0: 30000, 1: 30000})
    assert states(usage, [0, 1]) == {"memory-used": "holds"}
    assert proof.proved(usage, [0, 1])


def test_cards_without_memory_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What moves on an idle card is no use; one used card of two is no proof for both."""
    usage = seen(monkeypatch, [0, 1], Tool([card(0), card(1)], [card(0, 3404), card(1)]))
    assert states(usage, [0, 1]) == {"memory-none": "unknown"}
    usage = seen(monkeypatch, [0, 1], Tool([card(0), card(1)], [card(0, 9000), card(1)]))
    assert (states(usage, [0, 1]), usage.idle) == ({"memory-idle": "unknown"}, [1])
    assert not proof.proved(usage, [0, 1])


@pytest.mark.parametrize(
    "answers",
    [
        [None, None],  # no such tool, or a layout that is not known
        [[card(0)], None],  # it fails once the run is there
        [[card(0)], [card(0)]],  # there is no card 1
        [[msgspec.structs.replace(WELL, used=None)] * 2] * 2,
    ],
)
def test_what_the_tool_does_not_tell_is_unknown(
    answers: list[Sequence[Card] | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = seen(monkeypatch, [0, 1], Tool(*answers))
    assert states(usage, [0, 1]) == {"memory-untold": "unknown"}
    assert not proof.proved(usage, [0, 1])


def test_a_card_that_is_gone_is_told_by_its_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those behind it move up in the list, and are well; it is told once."""
    whole = [card(n) for n in range(3)]
    left = [card(0, 9000), card(2, 9000)]
    usage = seen(monkeypatch, [0, 1, 2], Tool(whole, left, left, left))
    assert [(one.card, one.now) for one in usage.ill] == [(1, "")]
    assert usage.during == {0: 9000, 2: 9000}


def test_without_bus_ids_nobody_can_say_which_card_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [msgspec.structs.replace(card(n), bus=None) for n in range(3)]
    usage = seen(monkeypatch, [0, 1, 2], Tool(whole, whole[:2], whole[:2]))
    assert usage.ill == []
    assert states(usage, [0, 1, 2]) == {"memory-untold": "unknown"}


def test_a_card_that_was_ill_before_is_no_news(monkeypatch: pytest.MonkeyPatch) -> None:
    ill = card(0, health="Warning")
    assert seen(monkeypatch, [0], Tool([ill], [ill])).ill == []
    usage = seen(monkeypatch, [0], Tool([card(0)], [card(0, health="Alarm")], [card(0)]))
    assert [(one.card, one.before, one.now) for one in usage.ill] == [(0, "OK", "Alarm")]
    assert states(usage, [0])["card-ill"] == "failed"
    [cause] = proof.causes(usage, 7)
    assert (cause.values["step"], "Alarm" in cause.what) == (7, True)


@pytest.mark.parametrize(
    ("word", "said"),
    [("OK", True), ("True", True), ("good", True), ("Alarm", False), ("UNKNOWN", False),
     ("False", False), ("", False), (None, None)],
)  # fmt: skip
def test_a_word_for_health_means_the_same_everywhere(word: str | None, said: bool | None) -> None:
    assert well(word) is said
