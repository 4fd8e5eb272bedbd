"""The codes that colour a terminal, and what to look for where they may stand within a word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

ESCAPE = b"\x1b"
_CODE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_LAST = (b"m", b"K")  # how the codes end that compilers, grep and painted lines are made of
_PART = 6  # bytes of a word beside a code: enough that other text seldom has them there
_LEAST = 3  # bytes of a word before a code: fewer are in every log


def uncoloured(data: bytes | bytearray) -> bytes | bytearray:
    """The same without the codes."""
    return _CODE.sub(b"", data) if ESCAPE in data else data


def broken(words: Iterable[bytes]) -> list[bytes]:
    """What a log holds where a code stands within one of these words.

    To remove all codes of a big log takes ten times as long as to search it, so that is done only
    where one of these is: the bytes before the first code in a word, or those after it where too
    few are before. It is missed where yet another code follows within those.
    """
    return sorted({part for word in words for part in _parts(word)})


def _parts(word: bytes) -> Iterator[bytes]:
    """What stands before or after a code, for each place in a word."""
    for cut in range(_LEAST, len(word)):
        yield word[max(cut - _PART, 0) : cut] + ESCAPE
    for cut in range(1, _LEAST):
        yield from (last + word[cut : cut + _PART] for last in _LAST)
