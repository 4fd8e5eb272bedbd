"""Codes that colour a terminal: nothing is missed where they stand within words."""

from __future__ import annotations

import gzip

import pytest

from checks.logs import search as searching
from checks.logs.catalogue import failures
from checks.logs.colours import broken, uncoloured
from checks.logs.literals import words
from checks.logs.window import Window
from tests.explain.conftest import Explain
from tests.explain.test_logs import ATB, NAMES, noise

RED, OFF = "\033[01;31m\033[K", "\033[m\033[K"
GREEN = "".join(f"\033[32m[{n}]\033[0m [\033[36m INFO\033[0m] loss: 2.5\n" for n in range(3000))
WORD = next(word for word in words(failures()[NAMES[ATB]].pattern) if word in ATB)


@pytest.fixture(params=["small", "big"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Search in both ways: as small logs are, and as big ones."""
    monkeypatch.setattr(searching, "SMALL", 1 << 30 if request.param == "small" else 0)
    return str(request.param)


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("cut", range(1, len(WORD), 5))
def test_a_code_at_any_place_of_a_word(explained: Explain, cut: int) -> None:
    painted = ATB.replace(WORD, f"{WORD[:cut]}{RED}{WORD[cut:]}{OFF}")
    find = (scan := explained(f"{GREEN}{painted}\n{GREEN}".encode())).finds[NAMES[ATB]]
    assert (find.count, scan.number(find.first), find.first.text) == (1, 3001, ATB)
    assert scan.read[0].bytes == len(f"{GREEN}{painted}\n{GREEN}")


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("packed", [False, True])
def test_painted_lines_are_shown_without_colours(explained: Explain, packed: bool) -> None:
    data = f"{GREEN}{RED}{ATB}{OFF}\n{GREEN}".encode()
    scan = explained(gzip.compress(data) if packed else data)
    find = scan.finds[NAMES[ATB]]
    assert (find.count, scan.number(find.first), find.first.text) == (1, 3001, ATB)
    assert find.before == ["[2998] [ INFO] loss: 2.5", "[2999] [ INFO] loss: 2.5"]
    assert find.after == ["[0] [ INFO] loss: 2.5", "[1] [ INFO] loss: 2.5"]


def test_colours_are_only_removed_where_they_may_hide_a_word(
    explained: Explain, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(window: object) -> None:
        raise AssertionError

    monkeypatch.setattr(searching, "SMALL", 0)
    monkeypatch.setattr(Window, "uncoloured", refused)
    assert explained(f"{GREEN}{ATB}\n{RED}warning: {OFF} {noise(3000)}".encode()).finds


def test_each_word_of_the_catalogue_is_suspected_at_each_place() -> None:
    for word in {word.encode() for entry in failures().values() for word in words(entry.pattern)}:
        for cut in range(1, len(word)):
            painted = word[:cut] + RED.encode() + word[cut:]
            assert any(part in painted for part in broken([word])), (word, cut)
            assert uncoloured(painted) == word
