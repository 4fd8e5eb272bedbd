"""The model's tokenizer: byte-level BPE as `tokenizer.ggml.pre = smollm` asks, from a GGUF file.

The text is cut into words (every digit one of its own), a word's bytes become printable letters,
and neighbours are merged in the order in which the merges were learned. Special tokens are not
looked for: `<|im_end|>` in a text is text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise

# Over shapes, not characters: "a" any letter, "0" any number, "!" anything else visible, "_" white
# space other than a blank. The letters of the contractions, blank and apostrophe stay themselves.
# A blank goes with the word after it; other white space is cut so that one blank is left for it.
WORD = re.compile(r"'(?:[stmd]|re|ve|ll)| ?[a-z]+|0| ?[!']+|[ _]+(?![^ _0])|[ _]+")
KEPT = frozenset(" 'stmdrevl")
WHITE = frozenset("\t\n\v\f\r\x85")  # white space that Unicode does not file under Z


def shape(character: str) -> str:
    """The kind of a character, as WORD reads it."""
    if character in KEPT:
        return character
    category = unicodedata.category(character)[0]
    if category == "Z" or character in WHITE:
        return "_"
    return {"L": "a", "N": "0"}.get(category, "!")


def words(text: str) -> list[str]:
    """The text cut into words; joined they are the text again."""
    shapes = "".join(map(shape, text))
    return [text[match.start() : match.end()] for match in WORD.finditer(shapes)]


def byte_letters() -> list[str]:
    """A printable letter for each byte: itself where printable, else one from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


class Tokenizer:
    """Encodes text. `tokens` in the order of their ids, `merges` as "left right", best first.

    `unknown` is the id for a byte without a token; in this vocabulary some control characters.
    """

    def __init__(self, tokens: Sequence[str], merges: Iterable[str], unknown: int) -> None:
        self._ids = {token: number for number, token in enumerate(tokens)}
        self._unknown = unknown
        self._ranks = {tuple(m.split(" ")): rank for rank, m in enumerate(merges)}
        self._letters = byte_letters()
        self._known: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """The token ids of a text; no token is added at its start or end."""
        return [number for word in words(text) for number in self._word(word)]

    def _word(self, word: str) -> list[int]:
        """The ids of one word; most words come again, so they are kept."""
        if word not in self._known:
            letters = [self._letters[byte] for byte in word.encode()]
            parts = self._merge(letters)
            self._known[word] = [self._ids.get(part, self._unknown) for part in parts]
        return self._known[word]

    def _merge(self, parts: list[str]) -> list[str]:
        """Join the neighbours that were learned first, everywhere, until none are left."""
        worst = len(self._ranks)
        while len(parts) > 1:
            pairs = list(pairwise(parts))
            best = min(pairs, key=lambda pair: self._ranks.get(pair, worst))
            if best not in self._ranks:
                break
            parts = joined(parts, best)
        return parts


def joined(parts: list[str], pair: tuple[str, str]) -> list[str]:
    """The parts with each occurrence of a pair of neighbours made one."""
    result: list[str] = []
    position = 0
    while position < len(parts):
        if tuple(parts[position : position + 2]) == pair:
            result.append(parts[position] + parts[position + 1])
            position += 2
        else:
            result.append(parts[position])
            position += 1
    return result
