"""The tokenizer: how text is cut into words, and how a word's parts are merged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.smoke.values import probe

bpe = probe("bpe")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Hello world", ["Hello", " world"]),
        ("a  b", ["a", " ", " b"]),
        ("version 2024", ["version", " ", "2", "0", "2", "4"]),  # digits stand alone
        ("a1b", ["a", "1", "b"]),
        ("  7", ["  ", "7"]),
        ("½²Ⅷ", ["½", "²", "Ⅷ"]),  # all three are numbers in Unicode
        ("it's we'll 'tis", ["it", "'s", " we", "'ll", " '", "tis"]),
        ("IT'S", ["IT", "'", "S"]),  # only lower case contracts
        ("x = (y+1);", ["x", " =", " (", "y", "+", "1", ");"]),
        ("a\n\n  b\t", ["a", "\n\n ", " b", "\t"]),
        ("a\n7", ["a", "\n", "7"]),
        ("a\u00a0b", ["a", "\u00a0", "b"]),  # white space, but no blank: stays alone
        ("\x1c!", ["\x1c!"]),  # white space for Python's str, not for Unicode
        ("你好，世界", ["你好", "，", "世界"]),
        ("cafe\u0301s", ["cafe", "\u0301", "s"]),  # a combining mark is no letter
        (" 😀😀 ", [" 😀😀", " "]),
        ("<|im_end|>", ["<|", "im", "_", "end", "|>"]),  # special tokens are not looked for
        ("", []),
    ],
)
def test_words(text: str, wanted: list[str]) -> None:
    assert bpe.words(text) == wanted


@given(st.text())
def test_no_character_is_lost(text: str) -> None:
    assert "".join(bpe.words(text)) == text


def spelled(text: str, *merges: str) -> list[str]:
    names = [*bpe.byte_letters(), *(merge.replace(" ", "") for merge in merges)]
    return [names[i] for i in bpe.Tokenizer(names, merges, 0).encode(text)]


def test_bytes_have_letters_of_their_own() -> None:
    letters = bpe.byte_letters()
    assert len(set(letters)) == 256
    assert (letters[ord("A")], letters[ord(" ")], letters[ord("\n")]) == ("A", "Ġ", "Ċ")
    assert all(letter.isprintable() for letter in letters)


def test_the_merge_learned_first_is_made_first() -> None:
    assert spelled("abc", "b c", "a b") == ["a", "bc"]
    assert spelled("abc", "a b", "b c") == ["ab", "c"]


def test_a_merge_is_made_everywhere_from_the_left() -> None:
    assert spelled("aaaaa", "a a") == ["aa", "aa", "a"]
    assert spelled("aaaa", "a a", "aa aa") == ["aaaa"]


def test_words_are_not_merged_across() -> None:
    assert spelled("a a", "a Ġ", "Ġ a") == ["a", "Ġa"]


def test_characters_beyond_ascii_are_their_bytes() -> None:
    assert len(spelled("é")) == 2
    assert spelled("é", "Ã ©") == ["Ã©"]


def test_a_byte_without_a_token_is_unknown() -> None:
    assert bpe.Tokenizer(["?", "a"], [], 0).encode("ab a") == [1, 0, 0, 1]
