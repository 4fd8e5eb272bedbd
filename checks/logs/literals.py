"""Which fixed words a line must hold before a pattern is worth trying on it.

A log of a gigabyte is searched for all these words at once; only lines that hold one of a
pattern's words are shown to the pattern itself.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

SHORTEST = 6  # characters; a shorter word is in too many lines

_TOKEN = re.compile(
    r"(?P<group>\()(?:\?(?:[:=!]|<[=!]))?"
    r"|(?P<close>\))|(?P<bar>\|)"
    r"|(?P<repeat>[*+?]\??|\{\d*,?\d*\}\??)"
    r"|(?P<any>\.|\^|\$|\\[dswDSWbBAZ]|\[(?:\\.|[^\]\\])*\])"
    r"|(?P<sign>\\.|.)",
    re.DOTALL,
)


@functools.cache
def words(pattern: str) -> tuple[str, ...]:
    """The longest fixed word of each alternative: what the pattern matches holds one of them.

    Words within groups are not looked at. Raises ValueError where an alternative has no word that
    is long enough, or one that is not ASCII and so has other bytes in another encoding.
    """
    found = tuple(max(runs, key=len) for runs in _alternatives(pattern))
    if any(len(word) < SHORTEST or not word.isascii() for word in found):
        raise ValueError(f"no fixed word of {SHORTEST} ASCII characters: {pattern}")
    return found


def _alternatives(pattern: str) -> Iterator[list[str]]:
    """The runs of fixed characters, outside of groups, of each alternative."""
    runs, depth = [""], 0
    for token in _TOKEN.finditer(pattern):
        kind, sign = token.lastgroup, token[0]
        depth += (kind == "group") - (kind == "close")
        if depth or kind in ("close", "any"):
            runs.append("")
        elif kind == "bar":
            yield runs
            runs = [""]
        elif kind == "repeat":
            if not sign.startswith("+"):
                runs[-1] = runs[-1][:-1]
            runs.append("")
        else:
            runs[-1] += sign[-1]
    yield runs
