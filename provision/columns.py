"""Texts in columns of a terminal, where a Chinese character is as wide as two Latin ones."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import category, east_asian_width

_WIDE: Final = "\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6"
_OPENS, _CLOSES = "（《「【“", "，。、；：？！）》」】”"
# What stays on one line: a word, or a Chinese character; with the punctuation that belongs to it.
_PIECE: Final = re.compile(
    rf"[{_OPENS}]*(?:[^\s{_WIDE}{_OPENS}{_CLOSES}]+|[{_WIDE}]|$)[{_CLOSES}]*|[{_CLOSES}]|\s+"
)


def width(text: str) -> int:
    """How many columns it takes: two for a wide character, none for a mark above another one.

    Source: Unicode Standard Annex 11, "East Asian Width".
    """
    if text.isascii():
        return len(text)
    return sum(0 if category(one) in ("Mn", "Me", "Cf") else 1 + (east_asian_width(one) in "WF")
               for one in text)  # fmt: skip


def left(text: str, columns: int) -> str:
    """The text and as many blanks as make it so wide; a wider one as it is."""
    return text + " " * (columns - width(text))


def right(text: str, columns: int) -> str:
    """As many blanks as make it so wide, and the text; a wider one as it is."""
    return " " * (columns - width(text)) + text


def wrapped(text: str, columns: int) -> list[str]:
    """The text in rows of at most so many columns; a word, such as a flag, is never broken."""
    rows = [""]
    for piece in _PIECE.findall(text):
        if rows[-1] and width(rows[-1] + piece.rstrip()) > columns:
            rows.append("")
        rows[-1] += piece if rows[-1] else piece.lstrip()
    return [row.rstrip() for row in rows]
