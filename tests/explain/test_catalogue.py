"""The catalogue of known failures holds what it promises."""

from __future__ import annotations

import re
import string
import time
from collections import Counter
from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.logs.catalogue import Failure, Group, causes, failures
from checks.logs.literals import words
from checks.machine.registry import CHECKS
from tests.explain.spelling import spelled

ALL = list(failures().values())


def test_ids_are_unique_in_order_and_without_gaps() -> None:
    text = [entry.id for entry in ALL]
    assert text == [f"K{number:03d}" for number in range(1, len(ALL) + 1)]
    assert len(ALL) >= 100


def test_every_group_has_entries() -> None:
    counts = Counter(entry.group for entry in ALL)
    assert set(counts) == set(get_args(Group))
    assert min(counts.values()) >= 5


def test_examples_match_and_what_only_looks_alike_does_not() -> None:
    for entry in ALL:
        assert entry.examples
        assert all(entry.matches(line) for line in entry.examples)
        assert not any(entry.matches(line) for line in entry.not_examples)


def test_no_other_entry_claims_an_example_but_its_causes_and_consequences() -> None:
    for entry in ALL:
        family = {entry.id, *causes(entry.id), *(o.id for o in ALL if entry.id in causes(o.id))}
        for line in entry.examples:
            assert {other.id for other in ALL if other.matches(line)} <= family


def test_both_languages_say_something_of_their_own() -> None:
    for entry in ALL:
        for texts in (entry.cause, entry.fix):
            assert len(texts.en) > 10
            assert texts.en.isascii()
            assert len(texts.zh) > 3
            assert (
                re.search("[\u4e00-\u9fff]", texts.zh) or texts.zh == texts.en or texts is entry.fix
            )
        assert re.search("[\u4e00-\u9fff]", entry.cause.zh)


def test_texts_are_not_copies_of_each_other() -> None:
    for name in ("cause", "fix"):
        for language in ("en", "zh"):
            counts = Counter(getattr(getattr(entry, name), language) for entry in ALL)
            assert not [text for text, count in counts.items() if count > 1]


def test_the_source_is_a_public_address_a_vendor_or_a_measurement() -> None:
    for entry in ALL:
        known = r"https://\S+|Huawei, .+|Enflame, .+|measured with .+|public report .+"
        assert re.fullmatch(known, entry.source)


def test_confirming_checks_and_causes_exist() -> None:
    for entry in ALL:
        assert set(entry.confirms) <= {check.id for check in CHECKS}
        assert set(entry.follows) <= set(failures())
        assert entry.id not in causes(entry.id)


def test_patterns_are_linear_enough() -> None:
    """No line of the size that is looked at holds a search up: half a second at most."""
    for entry in ALL:
        for line in (
            "a" * 4096,
            " " * 4096,
            "x: " * 1300,
            ("".join(words(entry.pattern)) + " ") * 40,
        ):
            began = time.process_time()
            entry.matches(line[:4096])
            assert time.process_time() - began < 0.5


_ASCII = st.characters(codec="ascii", exclude_characters="\n\r")


@settings(max_examples=60, deadline=None)
@given(entry=st.sampled_from(ALL), data=st.data())
def test_what_a_pattern_matches_holds_one_of_its_words(entry: Failure, data: st.DataObject) -> None:
    line = data.draw(st.from_regex(entry.pattern, alphabet=_ASCII))
    assert any(word in line for word in words(entry.pattern)), entry.id


def test_python_s_own_parser_sees_a_word_in_every_way_that_a_pattern_matches() -> None:
    """A proof for all lines: each way through a pattern spells one of its words out."""
    for entry in ALL:
        for way in spelled(entry.pattern):
            assert any(word in run for word in words(entry.pattern) for run in way), (entry.id, way)


@pytest.mark.parametrize("spoilt", [lambda word: word[1:], lambda word: word[:-1] + "\x7f"])
def test_an_example_without_its_words_is_no_longer_matched(spoilt: Callable[[str], str]) -> None:
    for entry in ALL:
        for line in entry.examples:
            while held := [word for word in words(entry.pattern) if word in line]:
                line = line.replace(held[0], spoilt(held[0]))  # noqa: PLW2901
            assert not entry.matches(line), entry.id


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("plain words", ("plain words",)),
        ("first part|second part", ("first part", "second part")),
        (r"ab \(x\)+ and longer", (" and longer",)),
        (r"optionals? at the end", (" at the end",)),
        (r"(?:in a group|not this)outside", ("outside",)),
        (r"a[|(]class of signs", ("class of signs",)),
        (r"dot\.dot\.dot", ("dot.dot.dot",)),
    ],
)
def test_words_of_a_pattern(pattern: str, expected: tuple[str, ...]) -> None:
    assert words(pattern) == expected


@pytest.mark.parametrize(
    "pattern", ["ab", r"\d+", "(?:everything inside)", "fine word|x", "非常常见"]
)
def test_a_pattern_without_a_word_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="no fixed word"):
        words(pattern)


@pytest.mark.parametrize(
    ("pattern", "ways"),
    [
        ("abc(def)gh?i+j", [["abc", "g", "i", "j"]]),
        ("same one|same two|other", [["same one"], ["same two"], ["other"]]),
        ("un[ab]c.d", [["unac", "d"], ["unbc", "d"]]),
        ("(one|two) more", [[" more"]]),
    ],
)
def test_what_the_proof_takes_for_spelled_out(pattern: str, ways: list[list[str]]) -> None:
    assert spelled(pattern) == ways


@given(st.text(alphabet=string.printable, max_size=40))
def test_an_escaped_text_is_its_own_word(text: str) -> None:
    if len(text) >= 6:
        assert words(re.escape(text)) == (text,)
