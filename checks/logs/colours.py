"""The codes that colour a terminal, and what to look for where they may stand within a word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

ESCAPE = b"\x1b"
_CODE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_LAST = (b"m", b"K")  # how the codes end that compilers, grep and terminals' colours are made of
_PART = 6  # bytes of a word beside a code: enough that other text seldom has them there
_LEAST = 3  # bytes of a word beside a code: fewer are in every log


def uncoloured(data: bytes) -> bytes:
    """The same without the codes."""
    return _CODE.sub(b"", data) if ESCAPE in data else data


def broken(words: Iterable[bytes]) -> list[bytes]:
    """What a log holds where a code stands within one of these words.

    To remove all codes of a big log takes ten times as long as to search it, so that is done only
    where one of these is. A word that codes tear into nothing but pieces of one or two bytes has
    none of them.
    """
    return sorted({part for word in words for part in _parts(word)})


def _parts(word: bytes) -> Iterator[bytes]:
    """What stands before a code, and what after one, for each place in a word."""
    for cut in range(1, len(word)):
        if cut >= _LEAST:
            yield word[max(cut - _PART, 0) : cut] + ESCAPE
        if len(word) - cut >= _LEAST:
            yield from (last + word[cut : cut + _PART] for last in _LAST)
