"""Damaged outputs: a value or an honest unknown, never a traceback, a hang or a moved value."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provision.facts.texts.reading import read
from provision.facts.texts.section import decode
from tests.read.drawn import npu_table
from tests.read.recorded import recordings
from tests.read.samples import A3, A3_DIES, B3, SAMPLES, b3

TEXTS = [text for _, text in SAMPLES.values()]
# An environment is known by being nearly all of a text, so that no script is taken for one.
ALONE = [text for kind, text in SAMPLES.values() if kind != "env"]
REAL = [text for path in recordings() if (text := decode(path.read_bytes()))]
DRAWN = ("npu-smi info", "efsmi")
SLOWEST = 2.0  # seconds for one text


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A sample, or two, after some accidents."""
    lines = draw(st.sampled_from(TEXTS + REAL)).splitlines()
    if draw(st.booleans()):
        lines += draw(st.sampled_from(TEXTS)).splitlines()
    for _ in range(draw(st.integers(1, 6))):
        if lines:
            lines = draw(st.sampled_from([_drop, _repeat, _shift, _swap, _narrow, _edit]))(
                draw, lines
            )
    text = draw(st.sampled_from(["\n", "\r\n", "\n\n", "\n> "])).join(lines)
    data = text.encode(
        draw(st.sampled_from(["utf-8", "gb18030", "utf-16", "utf-16-be"])), "replace"
    )
    return data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data


def _place(draw: st.DrawFn, lines: list[str]) -> int:
    return draw(st.integers(0, len(lines) - 1))


def _drop(draw: st.DrawFn, lines: list[str]) -> list[str]:
    at = _place(draw, lines)
    return lines[:at] + lines[at + draw(st.integers(1, 5)) :]


def _repeat(draw: st.DrawFn, lines: list[str]) -> list[str]:
    at = _place(draw, lines)
    return lines[: at + 1] + lines[at : at + 1] * draw(st.integers(1, 20)) + lines[at + 1 :]


def _shift(draw: st.DrawFn, lines: list[str]) -> list[str]:
    at, by = _place(draw, lines), draw(st.integers(1, 40))
    where = draw(st.integers(0, len(lines[at])))
    return [*lines[:at], lines[at][:where] + " " * by + lines[at][where:], *lines[at + 1 :]]


def _swap(draw: st.DrawFn, lines: list[str]) -> list[str]:
    at, other = _place(draw, lines), _place(draw, lines)
    lines = list(lines)
    lines[at], lines[other] = lines[other], lines[at]
    return lines


def _narrow(draw: st.DrawFn, lines: list[str]) -> list[str]:
    width = draw(st.integers(1, 120))
    return [line[:width] for line in lines]


def _edit(draw: st.DrawFn, lines: list[str]) -> list[str]:
    at = _place(draw, lines)
    where = draw(st.integers(0, len(lines[at])))
    new = draw(
        st.text(max_size=8)
        | st.sampled_from(["9" * 5000, "|" * 50, "²", "١٢", "\x1b[", "NA", "[[[", "=" * 99])
    )
    return [
        *lines[:at],
        lines[at][:where] + new + lines[at][where + draw(st.integers(0, 8)) :],
        *lines[at + 1 :],
    ]


def check(data: bytes) -> None:
    """Read it and look at the form of the value."""
    began = time.process_time()
    text = decode(data)
    value: dict[str, Any] = read(text) if text is not None else {"kind": None, "why": "binary"}
    assert time.process_time() - began < SLOWEST
    assert value["kind"] or value["why"]
    more: list[dict[str, Any]] = value.get("more", [])
    for part in [value, *more]:
        if part["kind"] == "npu-smi info":
            _plausible(part)


def _plausible(part: dict[str, Any]) -> None:
    """Values have their types: nothing of one column in another."""
    ids = [card["npu_id"] for card in part["cards"]]
    assert len(ids) == len(set(ids)) == len(part["generations"])
    for card in part["cards"]:
        assert isinstance(card["npu_id"], int) and card["name"]
        assert card["power_w"] is None or isinstance(card["power_w"], float | int)
        for chip in card["chips"]:
            assert chip["bus_id"] is None or ":" in chip["bus_id"]
            assert all(isinstance(v, int | float | None) for k, v in chip.items() if k != "bus_id")


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged())
def test_damaged_outputs(data: bytes) -> None:
    check(data)


@pytest.mark.slow
@settings(max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged())
def test_ten_thousand_damaged_outputs(data: bytes) -> None:
    check(data)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_anything_at_all(data: bytes) -> None:
    check(data)


@pytest.mark.parametrize(
    "piece",
    [
        "|",
        "a: ",
        "x=1 ",
        "[",
        "{",
        "npu-smi ",
        "\x1b[",
        "0 ",
        "1.2 / ",
        "/dev/gcu0 ",
        "a-b-1.",
        "ii a 1 ",
    ],
)
def test_one_endless_line(piece: str) -> None:
    check((piece * (200_000 // len(piece))).encode())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 63), min_size=2, max_size=16, unique=True), st.data())
def test_a_card_whose_rows_are_lost_is_the_only_one_that_is(
    ids: list[int], data: st.DataObject
) -> None:
    lost = data.draw(st.sampled_from(ids))
    lines = npu_table(B3, [b3(n) for n in ids], None).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"| {lost:<6}910B3"))
    whole = read("\n".join(lines))["cards"]
    left = read("\n".join(lines[:at] + lines[at + 3 :]))["cards"]
    assert left == [card for card in whole if card["npu_id"] != lost]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="abc xyz,!?\n温度", max_size=300), st.sampled_from(ALONE))
def test_text_that_follows_changes_nothing(more: str, text: str) -> None:
    value = read(text)
    assert read(f"{text}\n{more}") == value
    assert read(f"{more}\n\n{text}") == value


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 30), st.integers(0, 30))
def test_wider_columns_change_nothing(first: int, second: int) -> None:
    plain = npu_table(B3, [b3(0), b3(1)], None)
    widened = "\n".join(
        "|".join(
            part + " " * {1: first, 3: second}.get(i, 0) for i, part in enumerate(line.split("|"))
        )
        if line.startswith("|") else line
        for line in plain.splitlines()
    )  # fmt: skip
    assert read(widened)["cards"] == read(plain)["cards"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, (kind, _) in SAMPLES.items() if kind in DRAWN])
def test_a_table_cut_at_any_width_or_length_has_no_wrong_value(name: str) -> None:
    text = SAMPLES[name][1]
    whole = read(text)
    lines = text.splitlines()
    narrow = ["\n".join(line[:width] for line in lines) for width in range(1, 125)]
    short = [text[:length] for length in range(0, len(text), 3)]
    for cut in narrow + short:
        _agrees(read(cut), whole)


def _agrees(part: dict[str, Any], whole: dict[str, Any]) -> None:
    """Every value is that of the whole text, or is missing."""
    for key in set(part) - {"kind", "why", "notes", "generations"}:
        value, right = part[key], whole[key]
        if isinstance(value, list):
            known = {_key(row): row for row in right}
            for row in value:
                _agrees(row, known[_key(row)])
        else:  # a health may lack the second die's
            assert value is None or value == right or (key, value) == ("health", "OK"), key


def _key(row: dict[str, Any]) -> Any:
    """What tells the rows of a list apart."""
    names = ("pid", "chip_id", "npu_id", "device_id")
    return next((row[name] for name in names if name in row), None)


@pytest.mark.parametrize(
    "heading", ["Power(W)", "Temp(C)", "AICore(%)", "Memory-Usage(MB)", "HBM-Usage(MB)"]
)
def test_a_column_that_has_no_heading_is_not_read_and_moves_no_other(heading: str) -> None:
    plain = npu_table(B3, [b3(4, memory="11   / 22")], None)
    changed = read(plain.replace(heading, " " * len(heading)))["cards"]
    left = dict(_flat(changed))
    for name, value in _flat(read(plain)["cards"]):
        assert left[name] in (value, None), name


def _flat(cards: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """Names and values of the first card and its chip."""
    card = cards[0]
    return [(k, v) for k, v in {**card, **card["chips"][0]}.items() if k != "chips"]


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(2)))
def test_the_order_of_dies_moves_no_value(order: list[int]) -> None:
    text = npu_table(A3, [A3_DIES[i] for i in order], None)
    chips = read(text)["cards"][0]["chips"]
    assert sorted((c["chip_id"], c["hbm_used_mb"]) for c in chips) == [(0, 3111), (1, 10999)]
