"""Columns line up on a terminal, also where signs are two columns wide."""

from __future__ import annotations

import re
from unicodedata import east_asian_width

import pytest

from provision.columns import left, right, width, wrapped
from provision.words import catalogue
from tests.conftest import Cli

TEXTS = [" ".join(text.split()) for texts in catalogue().values() for text in texts.values()]


@pytest.mark.parametrize(
    ("text", "columns"), [("", 0), ("ab", 2), ("受阻", 4), ("（a）", 5), ("e\u0301", 1), ("…", 1)]
)
def test_a_width_is_that_of_a_terminal(text: str, columns: int) -> None:
    assert width(text) == columns
    assert left(text, 6) == text + " " * (6 - columns)
    assert right(text, 6) == " " * (6 - columns) + text
    assert left(text, 0) == right(text, 0) == text


@pytest.mark.parametrize("columns", [20, 45, 70])
def test_wrapping_keeps_each_word_and_the_margin(columns: int) -> None:
    for text in TEXTS:
        rows = wrapped(text, columns)
        assert "".join(rows).replace(" ", "") == text.replace(" ", "")
        for row in rows:
            assert width(row) <= columns or " " not in row, row
        words = [word for row in rows for word in row.split()]
        flags = re.findall(r"(?<!\S)--[a-z-]+(?!\S)", text)
        assert set(flags) <= set(words)


def test_a_row_begins_with_no_comma_of_the_one_before() -> None:
    rows = ["检查此环", "境，而不是", "（其他）环", "境。"]
    assert wrapped("".join(rows), 10) == rows
    assert wrapped("", 20) == [""]


def begins(line: str, pattern: str) -> int:
    """The column in which the pattern's group begins."""
    found = re.search(pattern, line)
    assert found, line
    before = line[: found.start(1)]
    return sum(1 + (east_asian_width(sign) in "WF") for sign in before)


def test_chinese_tables_line_up(here: Cli) -> None:
    plan = here("provision", "--target", "npu", "--dry-run", PADDOCK_LANG="zh").stdout
    steps = re.findall(r"(?m)^  [=+x-] \w+/.*", plan)
    states = {re.split(r" {2,}", line)[2] for line in steps}
    assert len(states) > 2
    assert len({begins(line, r"/\S+ +\S+ +(\S)") for line in steps}) == 1

    words = "fit --model llama2-13b --target npu --train --tp 4 --pp 2 --batch 1 --seq 2048"
    parts = re.findall(r"(?m)^    \S.*[Bs]$", here(*words.split(), PADDOCK_LANG="zh").stdout)
    assert len(parts) > 5
    assert len({width(line) for line in parts}) == 1
    assert len({begins(line, r"(?:B|bytes)() +[\d.]+ \S+$") for line in parts}) == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_help_fits_into_the_terminal(cli: Cli, language: str) -> None:
    out = cli("doctor", "--help", PADDOCK_LANG=language, COLUMNS="80").stdout
    assert "--snapshot" in out
    assert not [line for line in out.splitlines() if width(line) > 80]
